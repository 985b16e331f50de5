#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a slow worker costs: samples per virtual second of four simulated CONV workers, one of which is ten times slower, or all of which pause at random.

    bench/macro/stragglers.py steady                  # one worker ten times slower
    bench/macro/stragglers.py pauses                  # no straggler; each worker stands still for 10 batches' time at a tenth of its batches
    bench/macro/stragglers.py steady --table          # only prints the table of what has been run

`lenet5` on Fashion-MNIST, the whole model on the CONV workers, batches of 16, 20 ms each. The clock gap is the largest distance between the clocks of the
fastest and the slowest at any instant of the run. Runs are lines of JSON in --out; what is there already is not run again; --show prints the commands."""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATCH_S = 0.02
COMMON = ["--model", "lenet5", "--dataset", "fashion_mnist", "--conv-workers", "4", "--fc-workers", "0", "--batch", "16", "--epochs", "2", "--bandwidth", "1000",
          "--latency", "0.2", "--conv-time", str(1000 * BATCH_S), "--fc-time", "0", "--free-evaluation", "true"]
FACTOR = 10
SLOW = ["--slow", f"conv-0:{FACTOR}"]
SPEED = ["--local-policy", "speed"]
PAUSES = ["--pause-share", "0.1", "--pause-time", str(10000 * BATCH_S)]


def bound(s):
    return ["--staleness", str(s)]


ROWS = {
    "steady": [("undisturbed, s = 4", bound(4)), ("undisturbed, s = 0", bound(0)), ("s = 0", bound(0) + SLOW), ("s = 4", bound(4) + SLOW),
               ("unlimited", bound("unlimited") + SLOW), ("s = 4, steps by speed", bound(4) + SLOW + SPEED),
               ("s = 1, steps by speed", bound(1) + SLOW + SPEED), ("s = 0, steps by speed", bound(0) + SLOW + SPEED),
               ("s = 4, steps by speed, 1 % both ways", bound(4) + SLOW + SPEED + ["--compress", "topk ratio=0.01 | two_level | rice", "--downlink",
                                                                                 "topk ratio=0.01 | two_level | rice"]),
               ("s = 4, dynamic range=8", bound(4) + SLOW + ["--bound-policy", "dynamic range=8"]),
               ("unlimited, polynomial", bound("unlimited") + SLOW + ["--stale-policy", "polynomial"]),
               ("unlimited, buffer of 4", bound("unlimited") + SLOW + ["--apply-policy", "buffer"])],
    "pauses": [("undisturbed, s = 0", bound(0)), ("s = 0", bound(0) + PAUSES), ("s = 1", bound(1) + PAUSES), ("s = 4", bound(4) + PAUSES),
               ("s = 4, dynamic range=8", bound(4) + PAUSES + ["--bound-policy", "dynamic range=8"]), ("unlimited", bound("unlimited") + PAUSES)],
}


def capacity(what, name):
    """Samples per second of the four, if nobody waits."""
    one = 16 / BATCH_S
    if "undisturbed" in name:
        return 4 * one
    return (3 + 1 / FACTOR) * one if what == "steady" else 4 * one / 2  # a tenth of the batches takes eleven times as long


def command_of(program, arguments, seed):
    return [str(program), "simulate", *COMMON, "--seed", str(seed), "--json", *arguments]


def run(program, name, arguments, seed):
    done = subprocess.run(command_of(program, arguments, seed), capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if not lines or done.returncode != 0:
        raise SystemExit(f"{name}: " + (done.stderr.strip().splitlines() or ["no output"])[-1])
    result = json.loads(lines[-1])
    return {"name": name, "seed": seed, "arguments": arguments, **{key: result[key] for key in ("samples_per_s", "accuracy", "staleness", "clock_gap_max")}}


def table(what, runs):
    print("| setting | runs | samples/s | of what nobody waiting gives | clock gap | staleness, mean | accuracy |\n|" + "---|" * 7)
    for name, _ in ROWS[what]:
        found = [r for r in runs if r["name"] == name]
        if not found:
            continue
        speed = statistics.mean(r["samples_per_s"] for r in found)
        accuracies = [100 * r["accuracy"] for r in found]
        spread = f" ± {statistics.stdev(accuracies):.2f}" if len(accuracies) > 1 else ""
        print(f"| {name} | {len(found)} | {speed:.0f} | {100 * speed / capacity(what, name):.1f} % | {max(r['clock_gap_max'] for r in found):.0f} | "
              f"{statistics.mean(r['staleness']['mean'] for r in found):.1f} | {statistics.mean(accuracies):.2f}{spread} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=sorted(ROWS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--program", default=str(ROOT / "hourglass"))
    parser.add_argument("--out", default="stragglers.jsonl")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--show", action="store_true", help="print the commands, run nothing")
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    runs = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    runs = [r for r in runs if r["what"] == options.what]
    have = {(r["name"], r["seed"]) for r in runs}
    for seed in range(1, options.seeds + 1):
        for name, arguments in ROWS[options.what]:
            if options.table or options.only not in name or (name, seed) in have:
                continue
            if options.show:
                print(f"# {name}\n{shlex.join(command_of('./hourglass', arguments, seed))}")
                continue
            result = {"what": options.what, **run(options.program, name, arguments, seed)}
            runs.append(result)
            with out.open("a") as log:
                log.write(json.dumps(result) + "\n")
            print(f"{name}, seed {seed}: {result['samples_per_s']:.0f} samples/s, {100 * result['accuracy']:.2f} %", file=sys.stderr)
    if not options.show:
        table(options.what, runs)


if __name__ == "__main__":
    main()
