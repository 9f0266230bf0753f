"""installed_test.py PREFIX SOURCE: what `cmake --install` put to PREFIX works in an empty home, from another folder, without SOURCE.

Doctor, fit, predict, serve, studio and demo on photos; the service without HOME; a cache that cannot be written; the unit of systemd.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from installed_world import answer_of, ask, check, empty_home, run, run_without, running, wait_until, write_photos

NETWORK = ["--backbone", "mobilenet-0.25"]


def try_photos(program, folder, environment):
    run([program, "doctor"], folder, environment)
    run([program, "fit", "photos", *NETWORK, "-o", "model.safetensors"], folder, environment)
    cache = pathlib.Path(environment["HOME"]) / ".cache" / "annulus"
    check(list(cache.glob("features/*.rows")), f"fit kept no features in {cache}")
    answers = run([program, "predict", "model.safetensors", "photos", "--format", "jsonl"], folder, environment).stdout.splitlines()
    right = sum(json.loads(line)["label"] in json.loads(line)["path"] for line in answers)
    check(right == 15, f"predict named {right} of 15 photos of its own training")


def try_serve(program, folder, environment):
    photo = (folder / "photos" / "red" / "0.png").read_bytes()
    with running([program, "serve", "model.safetensors", "--port", "0"], folder, environment) as address:
        status, body = ask(f"{address}/v2/health/ready")
        check(status == 200, f"serve is not ready: {status} {body}")
        status, body = ask(f"{address}/predict", photo, {"Content-Type": "image/png"})
        check(status == 200 and answer_of(body) == "red", f"serve answered {status} {body}")


class StudioPage:
    """What the page does at the address that the studio printed."""

    def __init__(self, address):
        self.base, key = re.fullmatch(r"(http://[^/]+)/\?key=(\S+)", address).groups()
        self.key = {"X-Annulus-Key": key}
        status, page = ask(f"{self.base}/", headers=self.key)
        check(status == 200 and b"<html" in page.lower(), f"the studio's page: {status} {page[:200]}")

    def state(self):
        return json.loads(ask(f"{self.base}/api/state", headers=self.key)[1])

    def add(self, name, photos):
        """Drops photos on a class: a line of JSON, then the files one after the other."""
        contents = [photo.read_bytes() for photo in photos]
        header = {"class": name, "files": [[photo.name, len(content)] for photo, content in zip(photos, contents)]}
        status, body = ask(f"{self.base}/api/photos", json.dumps(header).encode() + b"\n" + b"".join(contents), self.key)
        check(status == 200, f"photos for the studio: {status} {body}")


def try_studio(program, folder, environment):
    with running([program, "studio", "project", "--no-open", "--port", "0", *NETWORK], folder, environment) as address:
        page = StudioPage(address)
        for name in ("blue", "green", "red"):
            page.add(name, sorted((folder / "photos" / name).iterdir()))

        def trained():
            now = page.state()
            check(not now["error"], f"the studio: {now['error']}")
            return now["model"] and now["model"]["current"] and now["model"]["can_predict"] and now["model"]["classes"] == 3
        wait_until(trained, 120, "the studio's model of three classes")
        check(page.state()["photos"] == 15, f"the studio found {page.state()}")


def try_demo(program, folder, environment):
    run([program, "demo", "-o", "demo", "--classes", "8", "--subsets", "1", "--shots", "1", *NETWORK], folder, environment)
    check((folder / "demo" / "emoji-model.safetensors").exists(), "the demo wrote no model")


def try_service(program, folder, environment):
    """As systemd starts it: neither HOME nor a network in the cache, which comes later."""
    cache, state = folder / "service-cache", folder / "service-state"
    cache.mkdir()
    service = {"CACHE_DIRECTORY": str(cache), "STATE_DIRECTORY": str(state), "PATH": str(folder / "no-programs")}
    photo = (folder / "photos" / "green" / "1.png").read_bytes()
    with running([program, "serve", "model.safetensors", "--port", "0"], folder, service) as address:
        for path in ("/v2/health/ready", "/v2/models/model/ready"):
            status, body = ask(address + path)
            check(status == 503 and b"model" in body, f"{path} without a network: {status} {body}")
        check(ask(f"{address}/v2/health/live")[0] == 200, "the process does not say that it runs")
        check(ask(f"{address}/predict", photo, {"Content-Type": "image/png"})[0] == 422, "a photo without a network was answered")
        shutil.copytree(pathlib.Path(environment["HOME"]) / ".cache" / "annulus", cache, dirs_exist_ok=True)
        wait_until(lambda: ask(f"{address}/v2/health/ready")[0] == 200, 120, "ready after the network came")
        status, body = ask(f"{address}/predict", photo, {"Content-Type": "image/png"})
        check(status == 200 and answer_of(body) == "green", f"the service answered {status} {body}")
    with running([program, "serve", "model.safetensors", "--port", "0", "--features-only"], folder,
                 dict(service, CACHE_DIRECTORY=str(folder / "other-cache"))) as address:
        check(ask(f"{address}/v2/health/ready")[0] == 200, "a server of features alone is not ready")
    with running([program, "studio", "--no-open", "--port", "0", *NETWORK], folder, service) as address:
        place = StudioPage(address).state()["folder"]
        check(place.startswith(str(state / "studio")), f"the studio's project lies in {place}")


def try_unwritable_cache(program, folder, environment):
    cache = pathlib.Path(environment["HOME"]) / ".cache" / "annulus"
    network = next(cache.glob("backbones/mobilenet-0.25-*.onnx"))
    (folder / "file").write_text("no folder", encoding="utf-8")
    where = dict(environment, ANNULUS_CACHE=str(folder / "file" / "cache"),
                 ANNULUS_ONNXRUNTIME=str(cache / "onnxruntime" / "libonnxruntime.so.1"))
    done = run([program, "fit", "photos", "--backbone", network, "-o", "uncached.safetensors"], folder, where)
    check("features are not kept for the next time" in done.stderr, f"no warning of the cache:\n{done.stderr}")
    check((folder / "uncached.safetensors").exists(), "fit wrote no model")
    done = run([program, "doctor"], folder, where, expect=2)
    check("to mend it: export ANNULUS_CACHE=" in done.stdout, f"doctor says of the cache:\n{done.stdout}")


def try_unit(prefix, folder, environment):
    unit = prefix / "share" / "annulus" / "systemd" / "annulus.service"
    text = unit.read_text(encoding="utf-8")
    start = re.search(r"^ExecStart=(\S+)", text, flags=re.M).group(1)
    check(start.endswith("/bin/annulus"), f"the unit starts {start}")
    for setting in ("DynamicUser=yes", "CacheDirectory=annulus", "StateDirectory=annulus", "Type=notify"):
        check(f"\n{setting}\n" in text, f"the unit lacks {setting}")
    if not shutil.which("systemd-analyze"):
        print("         systemd-analyze is not installed: the unit was read, not verified")
        return
    # The program of this copy, which is where the unit would look for it after an installation.
    copy = folder / "annulus.service"
    copy.write_text(text.replace(start, str(prefix / "bin" / "annulus")), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)], env=environment, text=True, check=False,
                          capture_output=True)
    faults = [line for line in (done.stdout + done.stderr).splitlines() if "annulus.service" in line]
    check(not faults, "systemd-analyze verify: " + "\n".join(faults))
    print("         systemd-analyze verify: no fault in the unit")


def try_all(scratch):
    prefix, folder = scratch / "prefix", scratch / "elsewhere"
    environment = empty_home(scratch)
    folder.mkdir()
    write_photos(folder / "photos")
    program = prefix / "bin" / "annulus"
    try_photos(program, folder, environment)
    try_serve(program, folder, environment)
    try_studio(program, folder, environment)
    try_service(program, folder, environment)
    try_unwritable_cache(program, folder, environment)
    try_unit(prefix, folder, environment)
    try_demo(program, folder, environment)


def main():
    if sys.argv[1] == "--inside":
        return try_all(pathlib.Path(sys.argv[2]))
    prefix, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="annulus-installed-") as scratch:
        # Moved to another folder: nothing may depend on where it was installed first.
        shutil.copytree(prefix, pathlib.Path(scratch) / "prefix", ignore=shutil.ignore_patterns("*.a", "include"))
        sys.exit(run_without(source, ["--inside", scratch]))


if __name__ == "__main__":
    main()
