"""What the tests of installed packages share: photos, an empty home, no repository in reach, servers that answer."""
import contextlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zlib

COLOURS = {"blue": (40, 60, 220), "green": (40, 200, 70), "red": (220, 50, 40)}
# What a machine needs to reach the network at all.
KEPT = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY",
        "NO_PROXY", "ANNULUS_MIRROR")
DOWNLOADED = ("onnxruntime", "weights-mobilenet-0.25", "emoji-*")


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def png(width, height, pixel):
    """A PNG file; pixel(x, y) gives red, green, blue."""
    rows = b"".join(b"\0" + bytes(value for x in range(width) for value in pixel(x, y)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_photos(folder, a_class=5):
    """A folder a class; photos of a class are a colour with stripes of different widths."""
    for name, colour in COLOURS.items():
        (folder / name).mkdir(parents=True)
        for number in range(a_class):
            def pixel(x, y, colour=colour, number=number):
                shade = 30 * ((x + 2 * y) // (3 + number) % 2)
                return [min(255, value + shade) for value in colour]
            (folder / name / f"{number}.png").write_bytes(png(64, 48, pixel))


def run_without(source, arguments):
    """Runs this script again with other arguments where `source` is an empty folder, if the system allows that; its exit code."""
    script = pathlib.Path(sys.argv[0]).resolve()
    with tempfile.TemporaryDirectory(prefix="annulus-scripts-") as copies:
        # The scripts lie in what is about to be hidden.
        for file in (script, pathlib.Path(__file__)):
            shutil.copy(file, copies)
        command = [sys.executable, "-B", str(pathlib.Path(copies) / script.name), *map(str, arguments)]
        for options in (["-m"], ["-rm"]):
            hidden = ["unshare", *options, "sh", "-c", 'mount -t tmpfs none "$0" && cd / && exec "$@"', str(source)]
            if subprocess.run([*hidden, "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
                return subprocess.run([*hidden, *command], check=False).returncode
        print("this system lets no process hide a folder: the repository stays in reach")
        return subprocess.run(command, cwd=copies, check=False).returncode


def empty_home(scratch):
    """The environment of a new user. Where nothing can be downloaded, what this machine has is copied to the new cache; without that
    the test is skipped."""
    home = scratch / "home"
    home.mkdir()
    environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
                   "no_proxy": "127.0.0.1,localhost", **{name: os.environ[name] for name in KEPT if name in os.environ},
                   **{name: value for name, value in os.environ.items() if name.lower().startswith("npm_config_")}}
    own = pathlib.Path.home() / ".npmrc"
    if own.exists():
        environment["npm_config_userconfig"] = str(own)
    if can_download(environment):
        return environment
    ours = pathlib.Path(os.environ.get("ANNULUS_CACHE") or pathlib.Path.home() / ".cache" / "annulus")
    found = [folder for pattern in DOWNLOADED for folder in ours.glob(pattern)]
    if not any(folder.name == "onnxruntime" for folder in found):
        print("nothing can be downloaded, and the cache of this machine is empty")
        sys.exit(77)
    print(f"nothing can be downloaded: {len(found)} items come from {ours}")
    for folder in found:
        shutil.copytree(folder, home / ".cache" / "annulus" / folder.name)
    return environment


def can_download(environment):
    if not shutil.which("npm", path=environment["PATH"]):
        return False
    return subprocess.run(["npm", "view", "--silent", "--fetch-retries=0", "onnxruntime-node", "name"], env=environment, check=False,
                          timeout=30, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def run(command, folder, environment, expect=0):
    """The finished command; its output is shown when its exit code is another one."""
    started = time.monotonic()
    done = subprocess.run([str(word) for word in command], cwd=folder, env=environment, text=True, check=False, timeout=600,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    words = " ".join(pathlib.Path(word).name if str(word).startswith("/") else str(word) for word in command)
    print(f"{time.monotonic() - started:6.1f} s  {words}", flush=True)
    check(done.returncode == expect, f"{words}: exit code {done.returncode}, expected {expect}\n{done.stdout}{done.stderr}")
    return done


@contextlib.contextmanager
def running(command, folder, environment):
    """A server and the address that it prints first; stopped at the end, which must be orderly."""
    log = pathlib.Path(folder) / "server.log"
    with open(log, "w", encoding="utf-8") as errors:
        with subprocess.Popen([str(word) for word in command], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=errors) as process:
            try:
                address = process.stdout.readline().strip()
                check(address.startswith("http://"), f"{command[1]} printed no address: {address!r}\n{log.read_text()}")
                yield address
            finally:
                process.terminate()
                try:
                    code = process.wait(timeout=30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    code = "no end"
    check(code in (0, 130, -15), f"{command[1]} ended with {code}:\n{log.read_text()}")


def ask(address, body=None, headers=None):
    """Status and body of a request; POST with a body."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(address, body, headers or {}), timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, f"not within {seconds} s: {what}")
        time.sleep(0.2)


def answer_of(body):
    """The label that a prediction of one photo gives."""
    prediction = json.loads(body)
    for key in ("predictions", "results"):
        if isinstance(prediction, dict) and key in prediction:
            prediction = prediction[key]
    return (prediction[0] if isinstance(prediction, list) else prediction)["label"]
