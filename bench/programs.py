"""What scripts of bench/ share: building and talking to timing programs, taking turns, and facts about the machine."""
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
BINARIES = PROJECT / "build" / "bench"
PROGRAMS = ["step_timing", "kernel_timing"]


def build():
    """Brings the timing programs up to date; the first time this takes minutes."""
    if (BINARIES / "build.ninja").exists():
        command = ["cmake", "--build", "--preset", "bench", "--target", *PROGRAMS]
    else:
        print("Building the bench preset", file=sys.stderr)
        command = [PROJECT / "scripts" / "build", "bench", *PROGRAMS]
    run = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{run.stdout[-4000:]}\nThe timing programs could not be built by: {' '.join(map(str, command))}")


class TimingProgram:
    """A child process that answers each line by a line of JSON and so stays warm from job to job."""

    def __init__(self, command, environment=None):
        self.command = [str(word) for word in command]
        self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env={**os.environ, **(environment or {})})

    def send(self, job):
        try:
            print(job if isinstance(job, str) else json.dumps(job), file=self.child.stdin, flush=True)
        except BrokenPipeError:
            pass  # receive() tells

    def receive(self):
        line = self.child.stdout.readline()
        if not line:
            sys.exit(f"{' '.join(self.command)} ended with exit code {self.child.wait()} instead of answering.")
        return json.loads(line)

    def ask(self, job):
        self.send(job)
        return self.receive()

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def annulus_program(name):
    return TimingProgram([BINARIES / name])


class Contestant:
    """One way to do a piece of work: `measure` returns seconds; it is called `repeats` times, after `warm_ups` that do not count.

    Once it took `enough` seconds in all it is not called again."""

    def __init__(self, label, measure, repeats, *, ours=False, reference=False, warm_ups=1, enough=float("inf")):
        self.label, self.measure, self.repeats, self.warm_ups, self.enough = label, measure, repeats, warm_ups, enough
        self.ours = ours
        self.reference = reference  # the fastest of these peers is the one the ratio is taken against
        self.seconds = []

    @property
    def median(self):
        return statistics.median(self.seconds)


def take_turns(contestants):
    """Runs all contestants round by round, so that a busy spell of the machine falls on each of them."""
    for contestant in contestants:
        for _ in range(contestant.warm_ups):
            contestant.measure()
    for turn in range(max(contestant.repeats for contestant in contestants)):
        for contestant in contestants:
            if turn < contestant.repeats and sum(contestant.seconds) < contestant.enough:
                contestant.seconds.append(contestant.measure())


def duration(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            break
    else:
        unit, size = "ns", 1e-9
    value = seconds / size
    return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f} {unit}"


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    commit = subprocess.run(["git", "-C", PROJECT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return {"processor": model, "processors": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "load_average_before": round(os.getloadavg()[0], 2), "annulus": commit.stdout.strip() or "unknown",
            "python": platform.python_version()}


def busy_sentence(facts):
    """A warning when other work would blur what is measured, else None."""
    if facts["load_average_before"] < 0.5 * facts["processors"]:
        return None
    return (f"The machine was busy before this run (load {facts['load_average_before']} on {facts['processors']} processors): "
            "trust ratios, not seconds.")


def report_essence(file):
    """A report of evaluate without what differs from run to run."""
    report = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    for name in ("time", "threads", "command"):
        report["metadata"].pop(name, None)
    for result in report["results"]:
        result.pop("seconds", None)
        for run in result.get("runs", []):
            run.pop("seconds", None)
    return report


def pyplot():
    """matplotlib.pyplot for drawing to a file, or None with a sentence when it is not there."""
    try:
        import matplotlib
    except ImportError:
        print("No plot: matplotlib is not installed (Debian package python3-matplotlib).", file=sys.stderr)
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot
    return matplotlib.pyplot
