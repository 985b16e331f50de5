#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole jobs, side by side: what docs/results.md quotes. Each run is one JSON line in --out; a table of them goes to stdout.

    bench/macro/spine.py accuracy     # default job against PyTorch, 3 seeds each, same samples, batch and learning rate
    bench/macro/spine.py bytes        # the Hourglass cut against the whole model data-parallel, per training sample
    bench/macro/spine.py compression  # both directions at 1 % against uncompressed
    bench/macro/spine.py throughput   # cluster on two cores against one process on one core, and that against PyTorch

Uses ./hourglass of this checkout and, for the peer, /usr/bin/python3 with python3-torch.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = ("batch", "activations", "activation_gradients", "push_conv", "push_fc", "update_conv", "update_fc", "snapshot", "metrics", "control", "evaluation")


def ours(command, *arguments, cores=None):
    """One run of this project's binary; returns its JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        line = [os.path.join(ROOT, "hourglass"), command, "--json", *map(str, arguments)]
        if command == "train":
            line += ["--no-dashboard", "--run-dir", os.path.join(folder, "run")]
        if cores:
            line = ["taskset", "-c", cores, *line]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(line)}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
        return json.loads(done.stdout)


def torch(*arguments, cores=None):
    line = ["/usr/bin/python3", os.path.join(ROOT, "bench/macro/torch_baseline.py"), *map(str, arguments)]
    if cores:
        line = ["taskset", "-c", cores, *line]
    return json.loads(subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True).stdout)


class Log:
    def __init__(self, path):
        self.path = path

    def add(self, label, run):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"label": label, **run}) + "\n")
        accuracy = run.get("accuracy")
        shown = "" if accuracy is None else f"accuracy {100 * accuracy:.2f} %, "
        print(f"{label}: {shown}{run['seconds']:.1f} s, {run['samples_per_s']:.0f} samples/s", flush=True)
        return run


def accuracy(log, options):
    rows = {"hourglass": [], "torch": []}
    for seed in range(1, options.seeds + 1):
        run = log.add(f"hourglass seed {seed}", ours("train", "--seed", seed, *options.extra))
        rows["hourglass"].append(run["accuracy"])
        for kind in KINDS:
            print(f"    {kind}: {run['bytes'][kind]['socket'] / 1e6:.2f} MB")
        print(f"    cpu seconds: {run['cpu_seconds']}")
        peer = log.add(f"torch seed {seed}", torch("--seed", seed, "--samples", run["samples"], "--batch", options.batch,
                                                   "--learning-rate", options.learning_rate))
        rows["torch"].append(peer["accuracy"])
    for name, values in rows.items():
        print(f"{name}: mean {100 * statistics.mean(values):.2f} %  ({', '.join(f'{100 * v:.2f}' for v in values)})")
    print(f"difference: {100 * (statistics.mean(rows['hourglass']) - statistics.mean(rows['torch'])):+.2f} points")


def per_sample(run, kinds=KINDS):
    return sum(run["bytes"][kind]["socket"] for kind in kinds) / run["samples"]


def bytes_per_sample(log, options):
    arguments = ["--samples", options.samples or 12800, "--seed", 1, *options.extra]
    cut = log.add("cut", ours("train", *arguments))
    whole = log.add("whole model", ours("train", "--fc-workers", 0, *arguments))
    for name, run in (("cut", cut), ("whole model data-parallel", whole)):
        print(f"{name}: {per_sample(run):.0f} bytes per sample")
        for kind in KINDS:
            print(f"    {kind}: {run['bytes'][kind]['socket'] / run['samples']:.1f}")
    print(f"whole / cut: {per_sample(whole) / per_sample(cut):.2f}")


def compression(log, options):
    sparse = "topk ratio=0.01 | two_level | rice"
    # Compression pays where parameters travel: the whole model on the CONV workers, and the cut with 8-bit boundary tensors.
    for layout, base, packed in (("cut", [], ["--boundary", "u8"]), ("whole model", ["--fc-workers", 0], [])):
        if options.layout not in (None, layout.split()[0]):
            continue
        plain = [log.add(f"{layout}, uncompressed, seed {s}", ours("train", "--seed", s, *base, *options.extra)) for s in range(1, options.seeds + 1)]
        small = [log.add(f"{layout}, 1 % both ways, seed {s}", ours("train", "--seed", s, "--compress", sparse, "--downlink", sparse, *base, *packed,
                                                                   *options.extra)) for s in range(1, options.seeds + 1)]
        for name, runs in (("uncompressed", plain), ("1 % both ways", small)):
            print(f"{layout}, {name}: {statistics.mean(map(per_sample, runs)):.0f} bytes per sample, of these push and update "
                  f"{statistics.mean(per_sample(r, ('push_conv', 'push_fc', 'update_conv', 'update_fc', 'snapshot')) for r in runs):.1f}, "
                  f"accuracy {100 * statistics.mean(r['accuracy'] for r in runs):.2f} %")
        print(f"{layout}: difference {100 * (statistics.mean(r['accuracy'] for r in small) - statistics.mean(r['accuracy'] for r in plain)):+.2f} points")


def throughput(log, options):
    samples = options.samples or 12800
    ratios, peers = [], []
    for pair in range(options.pairs):
        cluster = log.add(f"cluster, pair {pair}", ours("train", "--samples", samples, "--model", options.model, *options.extra))
        solo = log.add(f"one process, pair {pair}", ours("solo", "--samples", samples, "--model", options.model, "--conv-workers", 1, cores="0"))
        peer = log.add(f"torch, pair {pair}", torch("--samples", samples, "--batch", options.batch, "--model", options.model, cores="0"))
        ratios.append(cluster["samples_per_s"] / solo["samples_per_s"])
        peers.append(solo["samples_per_s"] / peer["samples_per_s"])
    print(f"{options.model}: cluster on two cores / one process on one core: {statistics.median(ratios):.2f}  ({', '.join(f'{r:.2f}' for r in ratios)})")
    print(f"{options.model}: time of ours / PyTorch, one process, one core: {1 / statistics.median(peers):.2f}  "
          f"({', '.join(f'{1 / r:.2f}' for r in peers)})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["accuracy", "bytes", "compression", "throughput"])
    parser.add_argument("--out", default="spine.jsonl")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--layout", choices=["cut", "whole"], help="compression: this one only")
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--model", default="cnn")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.03)
    options, options.extra = parser.parse_known_args()  # the rest goes to our own runs as it is
    if options.samples and options.what in ("accuracy", "compression"):
        options.extra += ["--samples", str(options.samples)]
    {"accuracy": accuracy, "bytes": bytes_per_sample, "compression": compression, "throughput": throughput}[options.what](Log(options.out), options)


if __name__ == "__main__":
    main()
