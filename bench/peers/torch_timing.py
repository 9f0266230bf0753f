#!/usr/bin/python3
"""The method in plain PyTorch, independent noise for every virtual example, as a timing program: jobs come in on standard input, one
line of JSON each, and are answered by one line of JSON. The process stays warm from job to job.

{"job": "step", "examples": B, "virtual": R, "dimension": D, "classes": N, "epsilon": E, "steps": COUNT}
                        seconds of a training step, Adam included: the mean of COUNT
{"job": "accuracy", ...the same...}              seconds of the accuracy of B examples' virtual examples
{"job": "fit", "rows": FILE, "classes": N, "dimension": D, "threshold": T, ...counts of a fit...}   a whole fit, search and all
{"job": "versions"}     what is being timed
"""
import json
import math
import sys
import time

import torch
import torch.nn.functional as F


class CosineHead(torch.nn.Module):
    """Weight-normalised rows against normalised features; the scale of 10 is put on the smaller factor."""

    def __init__(self, classes, dimension):
        super().__init__()
        bound = 1 / math.sqrt(dimension)
        self.direction = torch.nn.Parameter(torch.empty(classes, dimension).uniform_(-bound, bound))
        self.gain = torch.nn.Parameter(self.direction.detach().norm(dim=1, keepdim=True))

    def forward(self, x):
        weights = self.gain * self.direction / self.direction.norm(dim=1, keepdim=True)
        return (x * (10 / (x.norm(dim=1, keepdim=True) + 1e-5))) @ weights.t()


def virtual_examples(rows, labels, noise_scale, epsilon, count):
    """`count` virtual examples of every row, in place where that saves memory; the rows themselves at epsilon 0."""
    if epsilon == 0:
        return rows, labels
    x = torch.randn(rows.shape[0], count, rows.shape[1])
    x.mul_(epsilon * noise_scale).add_(rows[:, None])
    return x.view(-1, rows.shape[1]), labels.repeat_interleave(count)


def train_step(head, optimiser, x, labels):
    optimiser.zero_grad(set_to_none=True)
    loss = F.cross_entropy(head(x), labels, label_smoothing=0.1)
    loss.backward()
    optimiser.step()


@torch.no_grad()
def correct(head, x, labels):
    return int((head(x).argmax(dim=1) == labels).sum())


class Stage:
    """Everything a timed step needs, kept between jobs of one shape."""

    def __init__(self, examples, dimension, classes):
        torch.manual_seed(0)
        self.rows = F.normalize(torch.randn(examples, dimension))
        self.labels = torch.arange(examples) % classes
        self.noise_scale = self.rows.std(dim=0) if examples > 1 else torch.full((dimension,), 1 / math.sqrt(dimension))
        self.head = CosineHead(classes, dimension)
        self.optimiser = torch.optim.Adam(self.head.parameters(), lr=1e-3)

    def step(self, epsilon, count):
        train_step(self.head, self.optimiser, *virtual_examples(self.rows, self.labels, self.noise_scale, epsilon, count))

    def accuracy(self, epsilon, count):
        correct(self.head, *virtual_examples(self.rows, self.labels, self.noise_scale, epsilon, count))


stages = {}


def timed_stage(job):
    shape = job["examples"], job["dimension"], job["classes"]
    if shape not in stages:
        stages[shape] = Stage(*shape)
    work = getattr(stages[shape], job["job"])
    count = job.get("steps", 1)
    start = time.perf_counter()
    for _ in range(count):
        work(job["epsilon"], job["virtual"])
    return {"seconds": (time.perf_counter() - start) / count}


class Fit:
    """The whole method: pre-training, bisection, final training."""

    def __init__(self, job):
        values = torch.frombuffer(bytearray(open(job["rows"], "rb").read()), dtype=torch.float32)
        self.rows = F.normalize(values.view(-1, job["dimension"]))
        self.labels = torch.arange(len(self.rows)) // (len(self.rows) // job["classes"])
        self.noise_scale = self.rows.std(dim=0)
        self.job = job

    def new_head(self):
        return CosineHead(self.job["classes"], self.job["dimension"])

    def train(self, head, epsilon, epochs):
        batch, rate = self.job["batch"], self.job["batch"] / 256
        optimiser = torch.optim.Adam(head.parameters(), lr=rate)
        for epoch in range(epochs):
            for group in optimiser.param_groups:
                group["lr"] = rate * (1 + math.cos(math.pi * epoch / epochs)) / 2
            for chosen in torch.randperm(len(self.rows)).split(batch):
                train_step(head, optimiser, *virtual_examples(self.rows[chosen], self.labels[chosen], self.noise_scale,
                                                              epsilon, self.job["virtual"]))

    def accuracy(self, head, epsilon):
        right = sum(correct(head, *virtual_examples(rows, labels, self.noise_scale, epsilon, self.job["virtual"]))
                    for rows, labels in zip(self.rows.split(self.job["batch"]), self.labels.split(self.job["batch"])))
        return right / len(self.rows) / (self.job["virtual"] if epsilon > 0 else 1)

    def run(self):
        head = self.new_head()
        self.train(head, 0, self.job["pretrain_epochs"])
        target = min(self.job["threshold"], self.accuracy(head, 0))
        low, high, probe_head = 0.0, 10.0, self.new_head()
        while high - low >= 0.05:
            middle = (low + high) / 2
            self.train(probe_head, middle, self.job["probe_epochs"])
            if self.accuracy(probe_head, middle) > target:
                low = middle
            else:
                high = middle
        epsilon = (low + high) / 2
        final = self.new_head()
        self.train(final, epsilon, self.job["final_epochs"])
        return {"epsilon": epsilon, "accuracy": self.accuracy(final, 0), "virtual_accuracy": self.accuracy(final, epsilon)}


def timed_fit(job):
    start = time.perf_counter()
    result = Fit(job).run()
    return {"seconds": time.perf_counter() - start, **result}


def blas_library():
    """The BLAS that this process has loaded: its products are PyTorch's."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        paths = sorted({line.split()[-1] for line in maps if "blas" in line.rsplit("/", 1)[-1]})
    return next((path for path in paths if "openblas" in path or "blis" in path or "mkl" in path), paths[0] if paths else "")


def versions(_):
    torch.ones(64, 64) @ torch.ones(64, 64)
    return {"torch": torch.__version__, "threads": torch.get_num_threads(), "blas": blas_library()}


def main():
    torch.set_num_threads(int(sys.argv[1]))
    answers = {"step": timed_stage, "accuracy": timed_stage, "fit": timed_fit, "versions": versions}
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(answers[job["job"]](job)), flush=True)


main()
