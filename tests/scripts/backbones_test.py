"""backbones_test PROGRAM DATA PACKAGE: networks by name from an empty cache, through a mirror on this machine.

The mirror serves small networks of random weights (DATA/import) at the publishers' own paths. For a network of every family that
can be imported: fit, predict and the studio; for one, serve and the Python package (in PACKAGE). Then a server that cuts off, lies, fails, refuses; a full disk; two processes at once; no network; no
permission to ask: nothing half-installed, one sentence, and a rerun works.
"""
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

# Name in the catalogue, and the file of DATA/import (or DATA/backbones) that stands for it. One more family: one more line. Those that
# the program's importer does not know yet are left out, and said.
FAMILIES = [
    ("dino-vits16", "import/dino_plain.pth"),
    ("dinov2-vits14", "import/dinov2.pth"),
    ("dinov2-vits14-reg", "import/dinov2_registers.pth"),
    ("msn-vits16", "import/msn_resized.pth"),
    ("mocov3-vits16", "import/moco_v3_legacy.pth"),
    ("simclr-resnet50", "import/simclr_vissl.pth"),
    ("byol-resnet50", "import/byol_mmselfsup_legacy.pth"),
    ("resnet50-tv", "import/torchvision.pth"),
    ("vit-s16-augreg", "import/timm_strided.pth"),
    ("dino-resnet50", "import/dino_resnet.pth"),
    ("mocov3-resnet50", "import/moco_v3_resnet.pth"),
    ("clip-vit-b32", "import/clip_script.pt"),
    ("clip-rn50", "import/clip_resnet_script.pt"),
    ("siglip2-b16", "import/siglip_transformers.safetensors"),
    ("convnext-tiny", "import/convnext_timm.safetensors"),
    ("mobilenetv4-small", "import/mobilenetv4.safetensors"),
    ("dino-vits16-int8", "backbones/any_size.onnx"),
]
# Those that no program can download.
BY_HAND = [("s2m2r-wrn28-mini", "import/s2m2.pth"), ("meta-baseline-mini", "import/meta_baseline.pth"),
           ("pmf-vits16-mini", "import/pmf_half.pth"), ("dinov3-vits16", "import/dinov3.pth"),
           ("dinov3-vits16plus", "import/dinov3_plus_transformers.bin"), ("dinov3-convnext-tiny", "import/convnext_dinov3.pth")]
QUICK = ["--virtual", "4", "--epochs", "8", "--search-epochs", "2", "--search-tolerance", "0.2", "--no-calibrate", "-q"]
FIELDS = ["name", "family", "network", "trained_on", "labels", "licence", "commercial_use", "gated", "licence_address", "by_hand"]


class Mirror(http.server.ThreadingHTTPServer):
    """Serves files by path; `faults` maps a path to a list of what happens to its next requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.files, self.faults, self.asked = {}, {}, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # the name is http.server's
        mirror = self.server
        mirror.asked.append((self.path, self.headers.get("Range")))
        body = mirror.files.get(urllib.parse.urlsplit(self.path).path)
        faults = mirror.faults.get(self.path, [])
        fault = faults.pop(0) if faults else None
        if body is None or fault == 404:
            return self.finish_with(404, b"no")
        if fault == 500:
            return self.finish_with(500, b"oops")
        if fault == "wrong":
            return self.finish_with(200, body[::-1])
        first = int(self.headers["Range"].split("=")[1].rstrip("-")) if "Range" in self.headers else 0
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(body) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        rest = body[first:]
        if fault == "drip":
            return self.drip(rest)
        self.wfile.write(rest[:len(rest) // 2] if fault == "cut" else rest)
        self.close_connection = True
        return None

    def drip(self, body):
        """A byte now and then, until the other side has had enough."""
        with contextlib.suppress(OSError):
            for at in range(len(body)):
                self.wfile.write(body[at:at + 1])
                time.sleep(0.2)
        self.close_connection = True

    def finish_with(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Bench:
    """A cache, a user's catalogue and a mirror of its own."""

    def __init__(self, program, data, folder, runtime):
        self.program, self.data, self.folder, self.mirror = program, data, folder, Mirror()
        self.environment = {**os.environ, "HOME": str(folder), "ANNULUS_CACHE": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config"),
                            "ANNULUS_MIRROR": self.mirror.address, "ANNULUS_ONNXRUNTIME": runtime, "no_proxy": "127.0.0.1"}
        self.environment.pop("ANNULUS_OFFLINE", None)
        self.known = {entry["name"]: entry for entry in json.loads(self.run("backbones", "--json").stdout)}
        self.cases = {case["file"]: case for case in json.loads((data / "import" / "cases.json").read_text())}
        self.entries = {}
        self.families = [pair for pair in FAMILIES if self.known[pair[0]]["usable"]]
        self.by_hand = [pair for pair in BY_HAND if self.known[pair[0]]["usable"]]
        for name, file in FAMILIES + BY_HAND:
            if self.known[name]["usable"]:
                self.add(name, file)
            else:
                print(f"left out: {name}, because {self.known[name]['obstacle']}")
        self.photos()

    def run(self, *words, expect=0, **more):
        environment = {**self.environment, **more.pop("environment", {})}
        done = subprocess.run([self.program, *map(str, words)], env=environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=300, check=False, **more)
        assert done.returncode == expect, f"{words}: expected {expect}, found {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def add(self, name, file, **changes):
        """An entry of the user's catalogue: the built-in one, at its own address, with a small network."""
        content = (self.data / file).read_bytes()
        own = self.known[name]
        entry = {field: own[field] for field in FIELDS if own[field] != ""}
        entry["address"] = own["address"]
        if own["sha256"]:
            entry.update(sha256=hashlib.sha256(content).hexdigest()[:len(own["sha256"])], verified_by=own["verified_by"])
        if file.endswith(".onnx"):
            entry.update(format="onnx", preprocess="unit resize=8x8 crop=none", image_size=8, dimension=int(self.dimension_of(file)))
        else:
            case = self.cases[file.split("/")[1]]
            entry.update(arch=case["arch"], image_size=case["image"], dimension=len(case["features"][0]), allow_inert_objects=True)
        entry.update(changes)
        self.entries[name] = entry
        self.mirror.files[self.path(name)] = content
        config = self.folder / "config" / "annulus"
        config.mkdir(parents=True, exist_ok=True)
        (config / "backbones.json").write_text(json.dumps({"backbones": list(self.entries.values())}))

    def dimension_of(self, file):
        features = self.folder / "probe.npz"
        self.photos()
        self.run("extract", "photos", "--backbone", self.data / file, "--preprocess", "unit resize=8x8 crop=none", "-o", features, "-q")
        import numpy  # comes with scripts/packages.txt
        return numpy.load(features)["features"].shape[1]

    def photos(self):
        for label, pattern in (("a", "jpeg_4??.jpg"), ("b", "png_rgb*_8.png")):
            (self.folder / "photos" / label).mkdir(parents=True, exist_ok=True)
            for file in (self.data / "images").glob(pattern):
                shutil.copy(file, self.folder / "photos" / label)

    def path(self, name):
        return urllib.parse.urlsplit(self.entries[name]["address"]).path

    def fit_and_predict(self, name, *more):
        fit = self.run("fit", "photos", "--backbone", name, "-o", "model.safetensors", *QUICK, *more)
        predicted = self.run("predict", "model.safetensors", "photos/a", "--format", "jsonl", "-q", *more)
        assert all(json.loads(line)["label"] in "ab" for line in predicted.stdout.splitlines()) and predicted.stdout, predicted.stdout
        return fit

    def left(self, name):
        """Files of the network in the cache, but for the record."""
        own = re.compile(re.escape(name) + r"(-[0-9a-f]{8})?\.(?!json$).*")
        return sorted(file.name for file in (self.folder / "cache" / "backbones").iterdir() if own.fullmatch(file.name))


def every_family(bench):
    assert len(bench.families) >= 10 and len(bench.by_hand) >= 3
    for name, _ in bench.families:
        first = bench.fit_and_predict(name)
        assert len(bench.left(name)) == 1 and bench.left(name)[0].endswith(".onnx"), bench.left(name)
        licence = bench.known[name]
        assert ("commercial use" in first.stderr) == (not licence["commercial_use"]), first.stderr
        assert ("nobody publishes a checksum" in first.stderr) == (not licence["sha256"]), first.stderr
        count = len(bench.mirror.asked)
        bench.fit_and_predict(name, "--offline")
        assert len(bench.mirror.asked) == count, "a cached network is not asked for again"
        bench.run("backbones", "verify", name)
    for name, file in bench.by_hand:
        refused = bench.run("fit", "photos", "--backbone", name, "-o", "model.safetensors", *QUICK, expect=2)
        assert f"annulus backbones get {name} --from FILE" in refused.stderr, refused.stderr
        bench.run("backbones", "get", name, "--from", bench.data / file)
        bench.fit_and_predict(name)


@contextlib.contextmanager
def started(bench, *words):
    """A program that serves; gives the first line that it prints."""
    process = subprocess.Popen([bench.program, *map(str, words)], env=bench.environment, cwd=bench.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def ask(address, body=None, headers=None):
    request = urllib.request.Request(address, data=body, headers=headers or {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def until(wanted, seconds=120):
    """Waits for something that comes by itself."""
    for _ in range(seconds * 10):
        with contextlib.suppress(OSError):
            found = wanted()
            if found:
                return found
        time.sleep(0.1)
    raise AssertionError("waited in vain")


def server_and_studio(bench):
    """Both get the network by themselves."""
    name = "dino-vits16"
    photo = next((bench.folder / "photos" / "a").iterdir()).read_bytes()
    bench.fit_and_predict(name)
    bench.run("backbones", "remove", name)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with started(bench, "serve", "model.safetensors", "--port", port, "-q"):
        answer = until(lambda: ask(f"http://127.0.0.1:{port}/predict", photo))
        assert "label" in json.dumps(answer), answer
    assert len(bench.left(name)) == 1, bench.left(name)
    if "without the studio's page" in subprocess.run([bench.program, "studio", "/dev/null", "--no-open"], capture_output=True, text=True,
                                                     check=False).stderr:
        print("server_and_studio: this program has no studio")
        return
    seen = set()
    for name, _ in bench.families + bench.by_hand:
        family = bench.known[name]["family"]
        if family not in seen:
            seen.add(family)
            studio_gets(bench, name, photo)
    studio_gets(bench, "dino-vits16:mean", photo)


def studio_gets(bench, name, photo):
    """A new project of the studio encodes its first photo by the network; one that can be downloaded is, since it is not there."""
    if not bench.known[name.partition(":")[0]]["by_hand"]:
        bench.run("backbones", "remove", name)
    with started(bench, "studio", bench.folder / f"birds-{name}", "--home", bench.folder / "studio", "--backbone", name,
                 "--no-open") as studio:
        base, key = studio.stdout.readline().strip().split("/?key=")
        headers = {"X-Annulus-Key": key}
        head = json.dumps({"class": "a", "files": [["one.jpg", len(photo)]]}).encode() + b"\n"
        assert ask(base + "/api/photos", head + photo, headers)["photos"][0]["outcome"] == "added"

        def encoded():
            state = ask(base + "/api/state", None, headers)
            assert not state["error"], state
            return state["photos"] == 1 and state["waiting"] == 0 and [file for file in bench.left(name) if file.endswith(".onnx")]
        until(encoded)


def python_package(bench):
    """The Python package gets the network by itself, and warns of its licence."""
    if not list(pathlib.Path(sys.argv[3], "annulus").glob("_core*.so")):
        print("python_package: it was not built")
        return
    name = "mocov3-vits16"
    bench.run("backbones", "remove", name)
    (bench.folder / "cache" / "backbones" / (name + ".json")).unlink()
    lines = ("import annulus, pathlib, sys", "photos = [str(file) for file in pathlib.Path('photos/a').iterdir()]",
             "print(annulus.FeatureExtractor(sys.argv[1]).fit(photos).transform(photos).shape)",
             "by_feature = annulus.FeatureExtractor(sys.argv[1], feature='cls+mean').fit()",
             "print(by_feature.dimension_, by_feature.provenance_['backbone'], by_feature.provenance_['backbone_output'])")
    done = subprocess.run([sys.executable, "-c", "\n".join(lines), name], env={**bench.environment, "PYTHONPATH": str(pathlib.Path(sys.argv[3]).resolve())}, cwd=bench.folder,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and f", {bench.entries[name]['dimension']})" in done.stdout, done.stdout + done.stderr
    assert f"{2 * bench.entries[name]['dimension']} {name}:cls+mean features, class token and mean of patch tokens" in done.stdout, done.stdout
    assert "UserWarning: mocov3-vits16: licence CC BY-NC 4.0" in done.stderr, done.stderr
    assert len(bench.left(name)) == 1, bench.left(name)


def features(bench):
    """The class token, the mean of the patch tokens and both: made once each, remembered by models, told apart in the cache of features."""
    name = "dinov2-vits14"
    width = bench.entries[name]["dimension"]
    bench.fit_and_predict(name)
    rows = {}
    for feature, words in (("", [name]), ("cls", [name, "--feature", "cls"]), ("mean", [name, "--feature", "mean"]),
                           ("cls+mean", [f"{name}:cls+mean"])):
        done = bench.run("extract", "photos", "--backbone", *words, "--dtype", "f32", "-o", "features.npz", "--json")
        report = json.loads(done.stdout)
        assert report["dimension"] == width * (2 if feature == "cls+mean" else 1), report
        assert report["backbone"] == (f"{name}:{feature}" if "mean" in feature else name), report
        import numpy  # comes with scripts/packages.txt
        rows[feature] = numpy.load(bench.folder / "features.npz")["features"]
    assert (rows["cls"] == rows[""]).all() and (rows["mean"] != rows[""]).any()
    assert numpy.allclose(rows["cls+mean"], numpy.hstack([rows["cls"], rows["mean"]]), rtol=0, atol=1e-5)
    assert "commercial use" not in done.stderr and len(bench.left(name)) == 1
    listed = {entry["name"]: entry for entry in json.loads(bench.run("backbones", "--json").stdout)}
    assert listed[f"{name}:mean"]["feature"] == "mean" and listed[f"{name}:mean"]["cached"] and f"{name}:cls" not in listed
    assert ">   :cls+mean " in bench.run("backbones").stdout
    # A model goes on with its feature; another one is not what it was trained on.
    bench.run("fit", "photos", "--backbone", name, "--feature", "mean", "-o", "mean.safetensors", *QUICK)
    bench.run("predict", "mean.safetensors", "photos/a", "-q", "--offline")
    bench.run("predict", "mean.safetensors", "photos/a", "-q", "--feature", "mean")
    refused = bench.run("predict", "mean.safetensors", "photos/a", "-q", "--feature", "cls", expect=3)
    assert f"expected --feature to be that of mean.safetensors, which was trained with {name}:mean" in refused.stderr, refused.stderr
    refused = bench.run("predict", "mean.safetensors", "photos/a", "-q", "--backbone", name, expect=3)
    assert "use the same for both" in refused.stderr, refused.stderr
    count = len(bench.mirror.asked)
    refused = bench.run("fit", "photos", "--backbone", "resnet50-tv", "--feature", "mean", "-o", "none.safetensors", *QUICK, expect=2)
    assert "is a choice among the tokens of a transformer" in refused.stderr and len(bench.mirror.asked) == count, refused.stderr
    bench.run("backbones", "verify", f"{name}:mean")
    bench.run("backbones", "remove", f"{name}:mean", f"{name}:cls+mean")
    assert len(bench.left(name)) == 1


def misbehaving_server(bench):
    name = "dinov2-vits14"
    path = bench.path(name)
    for faults, sentence in ((["cut"] * 3, "cut off"), (["wrong"], "nothing was installed"), ([404], "status 404"), ([500] * 3, "status 500")):
        bench.run("backbones", "remove", name)
        bench.mirror.faults[path] = list(faults)
        failed = bench.run("backbones", "get", name, "-q", expect=5)
        assert sentence in failed.stderr and failed.stderr.count("\n") == 1, failed.stderr
        assert not [each for each in bench.left(name) if not each.endswith((".part", ".part.tag"))], bench.left(name)
        bench.fit_and_predict(name)
    for faults in ([500, 500], ["drip"]):
        bench.run("backbones", "remove", name)
        bench.mirror.faults[path], count = list(faults), len(bench.mirror.asked)
        bench.fit_and_predict(name)
        assert len(bench.mirror.asked) == count + len(faults) + 1, bench.mirror.asked[count:]


def full_disk(bench):
    name = "simclr-resnet50"
    bench.run("backbones", "remove", name)
    small = len(bench.mirror.files[bench.path(name)]) // 2
    failed = bench.run("backbones", "get", name, "-q", expect=5, restore_signals=False,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (small, resource.RLIM_INFINITY)))
    assert "the disk is full" in failed.stderr, failed.stderr
    bench.fit_and_predict(name)


def two_processes(bench):
    name = "byol-resnet50"
    bench.run("backbones", "remove", name)
    before = len([path for path, _ in bench.mirror.asked if path == bench.path(name)])
    both = [subprocess.Popen([bench.program, "backbones", "get", name, "-q"], env=bench.environment, cwd=bench.folder, stdout=subprocess.PIPE,
                             text=True) for _ in range(2)]
    answers = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0] and answers[0] == answers[1], answers
    assert len([path for path, _ in bench.mirror.asked if path == bench.path(name)]) == before + 1, "one of them downloads"


def no_network(bench):
    name = "dino-vits16"
    bench.run("backbones", "remove", name)
    gone = Mirror()
    gone.shutdown()
    gone.server_close()
    failed = bench.run("fit", "photos", "--backbone", name, "-o", "none.safetensors", *QUICK, expect=5, environment={"ANNULUS_MIRROR": gone.address})
    assert "is the network up?" in failed.stderr and failed.stderr.strip().count("\n") == 0, failed.stderr
    for words, environment in ((["--offline"], {}), ([], {"ANNULUS_OFFLINE": "1"})):
        failed = bench.run("fit", "photos", "--backbone", name, "-o", "none.safetensors", *QUICK, *words, expect=5, environment=environment)
        assert f"{name} is not here yet" in failed.stderr, failed.stderr
    assert not (bench.folder / "none.safetensors").exists()
    bench.fit_and_predict(name)


def upkeep(bench):
    name = "msn-vits16"
    bench.run("backbones", "remove", name)
    again = bench.run("backbones", "get", name)
    assert "commercial use" not in again.stderr, "a licence is shown once"
    bench.run("backbones", "remove", name)
    bench.mirror.files[bench.path(name)] = (bench.data / "import" / "dino_plain.pth").read_bytes()
    failed = bench.run("backbones", "get", name, "-q", expect=5)
    assert "its first download, recorded in" in failed.stderr, failed.stderr
    bench.mirror.files[bench.path(name)] = (bench.data / "import" / "msn_resized.pth").read_bytes()
    file = pathlib.Path(bench.run("backbones", "get", name, "-q").stdout.strip())
    measured = json.loads(bench.run("backbones", "--measure", name, "--json").stdout)
    listed = {entry["name"]: entry for entry in json.loads(bench.run("backbones", "--json").stdout)}[name]
    assert listed["milliseconds_an_image"] == measured[0]["milliseconds_an_image"] > 0 and listed["cached"], listed
    assert all(len(line) <= 100 for line in bench.run("backbones").stdout.splitlines())
    file.write_bytes(file.read_bytes() + b"x")
    assert name in bench.run("backbones", "verify", expect=4).stderr
    bench.run("backbones", "remove", name)
    bench.run("backbones", "verify")
    bench.run("backbones", "get", "no-such-network", expect=2)


def users_catalogue(bench):
    file = bench.folder / "config" / "annulus" / "backbones.json"
    good = file.read_text()
    file.write_text(good.replace('"dimension": 8', '"dimension": "eight"', 1))
    failed = bench.run("backbones", expect=4)
    assert f"{file}: entry " in failed.stderr and 'field "dimension": expected a number' in failed.stderr, failed.stderr
    doctor = bench.run("doctor", expect=2).stdout
    assert "catalogue of networks" in doctor and f"to mend it: mv {file} {file}.broken" in doctor, doctor
    file.write_text(good)
    bench.run("backbones")


def main():
    program, data = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    found = {each["subject"]: each for each in json.loads(subprocess.run([program, "doctor", "--json"], capture_output=True, text=True, check=False).stdout)}
    runtime = found["image support"]["found"].rpartition(", ")[2]
    if not os.path.isfile(runtime):
        print("skipped: no ONNX Runtime on this machine")
        sys.exit(77)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bench = Bench(program, data, folder, runtime)
        assert len(bench.known) >= 30
        for part in (every_family, features, server_and_studio, python_package, misbehaving_server, full_disk, two_processes, no_network, upkeep, users_catalogue):
            part(bench)
            print(f"{part.__name__}: ok")


main()
