"""slurm_test.py ANNULUS EXAMPLES DATA: a Slurm of one node, started in a folder of its own, runs the batch scripts of share/slurm.

What they write is what one process writes. Skipped (77) where Slurm is not installed, this is not root, or its daemons do not start."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from programs import report_essence  # noqa: E402

ANNULUS, EXAMPLES, DATA = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
SKIP = 77
PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "srun", "sinfo"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Slurm:
    """A controller and one node of two processors, with a key, a configuration and ports of their own."""

    def __init__(self, folder):
        self.folder, self.daemons = pathlib.Path(folder), []
        host = socket.gethostname().split(".")[0]
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o600)
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text("\n".join([
            "ClusterName=annulus", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", "SlurmdUser=root", "AuthType=auth/munge",
            f"AuthInfo=socket={folder}/munge.socket", "CredType=cred/munge", f"SlurmctldPort={free_port()}", f"SlurmdPort={free_port()}",
            f"StateSaveLocation={folder}", f"SlurmdSpoolDir={folder}/spool", f"SlurmctldPidFile={folder}/ctld.pid", f"SlurmdPidFile={folder}/d.pid",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none", "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU", "MpiDefault=none", "ReturnToService=2", "KillWait=2", "SchedulerParameters=batch_sched_delay=0",
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN", "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP", ""]))

    def start(self):
        f = self.folder
        self.daemon("munged", "--foreground", "--force", f"--key-file={f}/munge.key", f"--socket={f}/munge.socket", f"--pid-file={f}/munge.pid",
                    f"--log-file={f}/munge.log", f"--seed-file={f}/munge.seed")
        self.wait_for(lambda: (f / "munge.socket").exists(), "munged")
        self.daemon("slurmctld", "-D", "-f", str(self.conf))
        self.daemon("slurmd", "-D", "-f", str(self.conf))
        self.wait_for(lambda: "idle" in self.run("sinfo", "-h", "-o", "%t", check=False).stdout, "an idle node")

    def daemon(self, name, *arguments):
        with open(self.folder / f"{name}.out", "wb") as log:
            self.daemons.append(subprocess.Popen([name, *arguments], stdout=log, stderr=log, env=self.environment()))

    def wait_for(self, holds, what):
        deadline = time.monotonic() + 30
        while not holds():
            if time.monotonic() > deadline or any(daemon.poll() is not None for daemon in self.daemons):
                logs = "".join(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in sorted(self.folder.glob("*.out")))
                raise OSError(f"Slurm did not come up, waiting for {what}:\n{logs}")
            time.sleep(0.1)

    def environment(self, program=ANNULUS):
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return {**os.environ, **as_root, "SLURM_CONF": str(self.conf), "ANNULUS": str(program), "PATH": path}

    def run(self, *words, check=True, program=ANNULUS):
        done = subprocess.run(list(map(str, words)), env=self.environment(program), cwd=self.folder, capture_output=True, text=True, check=False,
                              timeout=600)
        if check and done.returncode != 0:
            logs = "".join(log.read_text(errors="replace")[-2000:] for log in self.folder.glob("slurm-*.out"))
            raise AssertionError(f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}{logs}")
        return done

    def submit(self, script, tasks, *arguments, **how):
        return self.run("sbatch", "--wait", f"--ntasks={tasks}", "--cpus-per-task=1", EXAMPLES / script, *arguments, **how)

    def stop(self):
        # One after the other: steps that slurmd waits for still have the controller to tell that they ended.
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()


def annulus(*words):
    subprocess.run([ANNULUS, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def dying(rank):
    """The program, of which that task is killed at its start."""
    script = SLURM.folder / f"dying-{rank}"
    script.write_text(f'#!/bin/sh\n[ "$SLURM_PROCID" != {rank} ] || kill -9 $$\nexec {ANNULUS} "$@"\n')
    script.chmod(0o755)
    return script


def has_onnxruntime():
    told = subprocess.run([ANNULUS, "extract", DATA / "images" / "exif_1.jpg", "-o", SLURM.folder / "one.safetensors", "-q", "--preprocess", "unit",
                           "--backbone", DATA / "backbones" / "any_size.onnx", "--cache", SLURM.folder / "one"], check=False, capture_output=True,
                          text=True)
    return told.returncode == 0 or "ONNX Runtime" not in told.stderr


def knows_pmix():
    return any(pathlib.Path("/usr/lib").glob("*/slurm*/mpi_pmix.so"))


class BatchScripts(unittest.TestCase):
    def test_a_grid_by_two_tasks_is_that_of_one_process(self):
        place = SLURM.folder
        quick = ["--shots", "1,2", "--subsets", "3", "--methods", "ncm,baseline", "--epochs", "5"]
        annulus("demo-generated", "--ways", 10, "-q", "--features", place / "f.safetensors", "-o", place / "m.safetensors")
        annulus("evaluate", place / "f.safetensors", "--json", place / "alone.json", "-q", *quick)
        SLURM.submit("evaluate.sbatch", 2, place / "f.safetensors", place / "shared.json", *quick)
        self.assertEqual(report_essence(place / "shared.json"), report_essence(place / "alone.json"))
        self.assertEqual(len((place / "shared.json.runs").read_text().splitlines()), 12)
        # A helper that dies costs nothing; the first one writes.
        SLURM.submit("evaluate.sbatch", 2, place / "f.safetensors", place / "helped.json", *quick, program=dying(1))
        self.assertEqual(report_essence(place / "helped.json"), report_essence(place / "alone.json"))
        done = SLURM.submit("evaluate.sbatch", 2, place / "f.safetensors", place / "helped.json", *quick, program=dying(0), check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue((place / "helped.json.old").exists())

    def test_images_by_two_tasks_give_the_features_of_one_process(self):
        if not has_onnxruntime():
            self.skipTest("ONNX Runtime is not to be had")
        place = SLURM.folder
        backbone = ["--backbone", DATA / "backbones" / "any_size.onnx", "--preprocess", "unit"]
        (place / "images" / "one").mkdir(parents=True)
        for image in sorted((DATA / "images").glob("exif_?.jpg")):
            shutil.copy(image, place / "images" / "one")
        annulus("extract", place / "images", "-o", place / "alone.safetensors", "--cache", place / "cache", "-q", *backbone)
        SLURM.submit("extract.sbatch", 2, place / "images", place / "shared.safetensors", *backbone)
        self.assertEqual((place / "shared.safetensors").read_bytes(), (place / "alone.safetensors").read_bytes())
        SLURM.submit("extract.sbatch", 2, place / "images", place / "helped.safetensors", *backbone, program=dying(1))
        self.assertEqual((place / "helped.safetensors").read_bytes(), (place / "alone.safetensors").read_bytes())

    @unittest.skipUnless(shutil.which("mpirun") and (ANNULUS.parent / "annulus_mpi.so").exists(), "the program was built without MPI")
    def test_a_fit_by_two_tasks_is_that_of_one_process(self):
        place = SLURM.folder
        quick = ["--shots", "3", "--epochs", "5", "--virtual", "8", "--epsilon", "1"]
        annulus("demo-generated", "--ways", 10, "-q", "--features", place / "g.safetensors", "-o", place / "o.safetensors")
        annulus("fit", place / "g.safetensors", "-o", place / "one.safetensors", "-q", *quick)
        SLURM.submit("fit.sbatch", 2, place / "g.safetensors", place / "two.safetensors", *quick)
        self.assertFalse((place / "two.safetensors.checkpoint").exists())
        self.expect_same_answers(place, "two.safetensors")

    @unittest.skipUnless((ANNULUS.parent / "annulus_mpi.so").exists() and knows_pmix(), "built without MPI, or this Slurm knows no PMIx")
    def test_srun_starts_a_fit_and_ends_it(self):
        place = SLURM.folder
        quick = ["--shots", "3", "--epochs", "5", "--virtual", "8", "--epsilon", "1", "-q"]
        srun = ["srun", "--mpi=pmix", "--kill-on-bad-exit=1", "-n", "2", ANNULUS, "fit", place / "g.safetensors", *quick]
        annulus("demo-generated", "--ways", 10, "-q", "--features", place / "g.safetensors", "-o", place / "o.safetensors")
        annulus("fit", place / "g.safetensors", "-o", place / "one.safetensors", *quick)
        SLURM.run(*srun, "-o", place / "three.safetensors")
        self.expect_same_answers(place, "three.safetensors")
        # The first one alone cannot write; the second one does not wait for it.
        done = SLURM.run(*srun, "-o", place / "nowhere" / "m.safetensors", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("annulus: ", done.stderr)

    def expect_same_answers(self, place, model):
        answers = [subprocess.run([ANNULUS, "predict", place / name, place / "g.safetensors", "--format", "csv", "--top", "1", "-q"], check=True,
                                  capture_output=True, text=True).stdout.splitlines() for name in ("one.safetensors", model)]
        labels = [[line.split(",")[1] for line in lines] for lines in answers]
        same = sum(one == two for one, two in zip(*labels))
        self.assertGreater(len(labels[0]), 100)
        self.assertGreaterEqual(same, 0.995 * len(labels[0]))


if __name__ == "__main__":
    missing = [name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if missing or os.geteuid() != 0:
        print(f"skipped: {'not root' if not missing else 'not installed: ' + ', '.join(missing)}")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory(prefix="annulus-slurm-") as scratch:
        SLURM = Slurm(scratch)
        try:
            SLURM.start()
        except OSError as fault:
            SLURM.stop()
            print(f"skipped: {fault}")
            sys.exit(SKIP)
        try:
            unittest.main()
        finally:
            SLURM.stop()
