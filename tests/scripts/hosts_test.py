"""hosts_test.py ANNULUS: mpirun fits one head on two hosts, network namespaces that only a virtual cable connects.

Accuracy and radius are those of one process. Each host has a name of its own. Skipped (77) where namespaces cannot be made, mpirun is not
installed, or the program was built without MPI."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ANNULUS = pathlib.Path(sys.argv.pop(1)).resolve()
SKIP = 77
NAMES = [f"annulus{os.getpid()}{letter}" for letter in "ab"]
ADDRESSES = ["198.18.77.1", "198.18.77.2"]  # of the range that is kept for tests of networks


def ip(*words):
    subprocess.run(["ip", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def connect_hosts():
    for name in NAMES:
        ip("netns", "add", name)
    ip("link", "add", NAMES[0][-15:], "netns", NAMES[0], "type", "veth", "peer", "name", NAMES[1][-15:], "netns", NAMES[1])
    for name, address in zip(NAMES, ADDRESSES):
        ip("-n", name, "addr", "add", f"{address}/24", "dev", name[-15:])
        ip("-n", name, "link", "set", name[-15:], "up")
        ip("-n", name, "link", "set", "lo", "up")
        ip("netns", "exec", name, "true")


def remove_hosts():
    for name in NAMES:
        subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)


def bytes_received(number):
    told = subprocess.run(["ip", "-n", NAMES[number], "-s", "-j", "link", "show", NAMES[number][-15:]], check=True, capture_output=True, text=True)
    return json.loads(told.stdout)[0]["stats64"]["rx"]["bytes"]


class TwoHosts(unittest.TestCase):
    def test_a_fit_on_two_hosts_is_that_of_one_process(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            agent = place / "agent"  # takes the part of ssh: mpirun names a host and a command
            agent.write_text(f'#!/bin/sh\nshift\nexec ip netns exec {NAMES[1]} unshare --uts sh -c "hostname host1; $*"\n')
            agent.chmod(0o755)
            features = place / "features.safetensors"
            subprocess.run([ANNULUS, "demo-generated", "--ways", "12", "-q", "--features", features, "-o", place / "other.safetensors"], check=True,
                           stdout=subprocess.DEVNULL)
            fit = f"{ANNULUS} fit {features} --shots 3 --epochs 10 --virtual 8 --threads 1 -q --json"
            alone = subprocess.run(["sh", "-c", f"{fit} -o {place}/alone.safetensors"], check=True, capture_output=True, text=True)
            mpirun = (f"mpirun --allow-run-as-root -n 2 --host {','.join(ADDRESSES)} --mca plm_rsh_agent {agent} --mca plm_rsh_no_tree_spawn 1 "
                      f"--mca mpi_yield_when_idle 1 --mca btl tcp,self --mca btl_tcp_if_include 198.18.77.0/24 --mca oob_tcp_if_include 198.18.77.0/24")
            before = bytes_received(1)
            there = ["ip", "netns", "exec", NAMES[0], "unshare", "--uts", "sh", "-c"]
            shared = subprocess.run([*there, f"hostname host0; exec {mpirun} {fit} -o {place}/shared.safetensors"], check=False, capture_output=True,
                                    text=True, timeout=600)
            self.assertEqual(shared.returncode, 0, shared.stderr)
            self.assertGreater(bytes_received(1) - before, 100_000)  # the sums of a training went over the cable
            one, two = json.loads(alone.stdout), json.loads(shared.stdout)
            self.assertLess(abs(two["epsilon"] / one["epsilon"] - 1.0), 0.01)
            self.assertAlmostEqual(two["training_accuracy"], one["training_accuracy"], delta=0.05)


if __name__ == "__main__":
    missing = [name for name in ("ip", "unshare", "mpirun") if not shutil.which(name)]
    if missing or os.geteuid() != 0 or not (ANNULUS.parent / "annulus_mpi.so").exists():
        print(f"skipped: {'not root, or built without MPI' if not missing else 'not installed: ' + ', '.join(missing)}")
        sys.exit(SKIP)
    try:
        connect_hosts()
    except subprocess.CalledProcessError as fault:
        remove_hosts()
        print(f"skipped: no network namespaces here: {fault.stderr.decode().strip()}")
        sys.exit(SKIP)
    try:
        unittest.main()
    finally:
        remove_hosts()
