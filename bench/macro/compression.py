#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bytes and seconds to a test accuracy on a simulated 100 Mbit network: for the ladder of compression, for every compressor, for studies of one method.

    bench/macro/compression.py ladder                     # both layouts, one setting added at a time
    bench/macro/compression.py registry --job lenet5      # each row of `hourglass compressors` once, whole model on the CONV workers
    bench/macro/compression.py selection --job lenet5     # aggregation-aware selection against plain top-k for 4, 8, 16 workers
    bench/macro/compression.py ratio --job lenet5         # ratio policies against a fixed ratio at equal bytes
    bench/macro/compression.py memory --job lenet5        # error feedback and other memories against none, 8 workers
    bench/macro/compression.py ladder --table             # only prints the table of what has been run

CONV workers (four unless the study says otherwise) train on 16 samples a step each; the network cards are the only thing that is slow. Every machine has
the dataset, as with the peers. Bytes are those of
all links, headers included, evaluations left out; seconds are virtual. Runs are lines of JSON in --out; what is there already is not run again. The
settings are those of `hourglass simulate`, so any row can be repeated by hand: --show prints its command."""

import argparse
import concurrent.futures
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMON = ["--batch", "16", "--local-data", "true", "--bandwidth", "100", "--latency", "0.2", "--free-evaluation", "true", "--evaluate-every", "10000",
          "--conv-time", "9.5", "--fc-time", "7.7"]  # milliseconds of one core for 16 samples, measured on `train`
JOBS = {
    "cnn": ["--model", "cnn", "--dataset", "fashion_mnist", "--epochs", "2"],
    "lenet5": ["--model", "lenet5", "--dataset", "fashion_mnist", "--epochs", "3", "--conv-time", "0.6", "--fc-time", "0.3"],
    "cifar": ["--model", "cifar_cnn", "--dataset", "cifar10", "--epochs", "8"],
}
TARGETS = {"cnn": (0.89, 0.90), "lenet5": (0.85, 0.87), "cifar": (0.65, 0.70)}
SPARSE = "topk ratio=0.01 | two_level | rice"
UNION = "nonzero | f32 | raw"


def ladder():
    return [row for layout in ("cut", "whole") for row in ladder_of(layout)]


def ladder_of(layout):
    """(name, arguments), each with one thing more than the one before."""
    cut = layout == "cut"
    plain = ["--fc-workers", "1" if cut else "0"]
    boundary = lambda kind: ["--boundary", kind] if cut else []
    rows = [
        ("dense f32", boundary("f32")),
        ("dense bf16", ["--compress", "dense | bf16", "--downlink", "dense | bf16", *boundary("bf16")]),
        ("top-k 1 % f32, raw indices, union downlink", ["--compress", "topk ratio=0.01 | f32 | raw", "--downlink", UNION, *boundary("bf16")]),
        ("+ two_level values", ["--compress", "topk ratio=0.01 | two_level | raw", "--downlink", UNION, *boundary("bf16")]),
        ("+ rice indices", ["--compress", SPARSE, "--downlink", "nonzero | f32 | rice", *boundary("bf16")]),
        ("+ H = 4", ["--compress", SPARSE, "--downlink", "nonzero | f32 | rice", "--local-steps", "4", *boundary("bf16")]),
        ("+ compressed downlink", ["--compress", SPARSE, "--downlink", SPARSE, "--local-steps", "4", *boundary("u8")]),
        ("+ H = 8", ["--compress", SPARSE, "--downlink", SPARSE, "--local-steps", "8", *boundary("u8")]),
        ("+ one publication a round, s = 1", ["--compress", SPARSE, "--downlink", SPARSE, "--local-steps", "8", "--staleness", "1",
                                               "--publish-every", "round", *boundary("u8")]),
        ("+ aggregation-aware selection", ["--compress", SPARSE.replace("topk", "aggregation_aware"), "--downlink", SPARSE, "--local-steps", "8",
                                           "--staleness", "1", "--publish-every", "round", *boundary("u8")]),
        ("DGC-style: 0.1 %, f32, raw, every step", ["--compress", "dgc_momentum momentum=0.9 | topk ratio=0.001 | f32 | raw", "--downlink", UNION,
                                                    "--optimizer", "sgd", *boundary("bf16")]),
    ]
    if not cut:
        few = ["--staleness", "1", "--publish-every", "round", "--flush-residual", "false"]
        at = lambda ratio: ["--compress", SPARSE.replace("0.01", ratio), "--downlink", SPARSE.replace("0.01", ratio)]
        rows += [("H = 2, 0.2 % both ways, s = 1, one publication a round, no flush", [*few, "--local-steps", "2", *at("0.002")]),
                 ("H = 4, 0.3 % both ways, s = 1, one publication a round, no flush", [*few, "--local-steps", "4", *at("0.003")])]
    return [(f"{layout}: {name}", plain + arguments) for name, arguments in rows]


def momentum_of(spec):
    """DGC's memory is the momentum: the optimizer must not add its own."""
    return ["--optimizer", "sgd"] if "dgc_momentum" in spec else []


def registry():
    """Every row of the registry that goes upwards, with a compressed downlink."""
    listing = json.loads(subprocess.run([ROOT / "hourglass", "compressors", "--json"], capture_output=True, text=True, check=True).stdout)
    return [(f"registry: {row['name']}", ["--fc-workers", "0", "--compress", row["example"], "--downlink", "topk ratio=0.02 | two_level | rice",
                                          *momentum_of(row["example"])])
            for row in listing]


def selection():
    """Synchronous, the downlink is exactly what changed: its bytes are the union of what the workers of a round selected."""
    kinds = ["topk ratio=0.01", "aggregation_aware ratio=0.01 window=4", "aggregation_aware ratio=0.01 metric=frequency lambda=4",
             "aggregation_aware ratio=0.01 metric=frequency lambda=20", "aggregation_aware ratio=0.01 metric=consensus",
             "aggregation_aware ratio=0.01 metric=hysteresis", "clt_k ratio=0.01", "random_block ratio=0.01"]
    return [(f"P = {workers}: {kind}", ["--conv-workers", str(workers), "--fc-workers", "0", "--staleness", "0", "--outstanding", "1", "--compress",
                                        f"{kind} | two_level | rice", "--downlink", UNION.replace("raw", "rice")])
            for workers in (4, 8, 16) for kind in kinds]


def ratio():
    """The budget forms share out the entries of the fixed ratio; bounds of the literal form are set so that its bytes come close to it."""
    rows = [("0.2 %", "topk ratio=0.002"), ("0.5 %", "topk ratio=0.005"), ("1 %", "topk ratio=0.01")]
    for name, selector in list(rows):
        share = float(selector.split("=")[1])
        rows += [(f"{name}: entropy, budget", f"entropy form=budget | {selector}"),
                 (f"{name}: entropy of values, budget", f"entropy form=budget by=values | {selector}"),
                 (f"{name}: entropy, literal", f"entropy least={share / 10:g} most={share * 1.15:g} | {selector}"),
                 (f"{name}: budget by energy", f"budget | {selector}"),
                 (f"{name}: budget by norm", f"budget by=norm | {selector}"),
                 (f"{name}: dynamic (RS-DGC)", f"dynamic | {selector}")]
    return [(name, ["--fc-workers", "0", "--compress", f"{spec} | two_level | rice", "--downlink", "topk ratio=0.02 | two_level | rice"])
            for name, spec in rows]


def memory():
    """What error feedback is worth; only pushes are compressed. GRACE's table for CIFAR-10, in its order."""
    kinds = [("none", "dense"), ("top-k 1 %, error feedback", "topk ratio=0.01"), ("top-k 1 %", "none | topk ratio=0.01"),
             ("random-k 1 %, error feedback", "random_k ratio=0.01"), ("random-k 1 %", "none | random_k ratio=0.01"),
             ("1 bit, error feedback", "dense | sign"), ("1 bit", "none | dense | sign"), ("TernGrad", "none | dense | terngrad"),
             ("QSGD", "none | dense | qsgd"), ("8 bits, error feedback", "dense | u8"), ("8 bits", "none | dense | u8"),
             ("top-k 1 %, DGC momentum", "dgc_momentum momentum=0.9 | topk ratio=0.01"), ("top-k 1 %, low-pass", "low_pass | topk ratio=0.01"),
             ("top-k 1 %, EF21", "ef21 | topk ratio=0.01")]
    return [(name, ["--conv-workers", "8", "--fc-workers", "0", "--compress", spec, *momentum_of(spec)])
            for name, spec in kinds]


STUDIES = {"ladder": ladder, "registry": registry, "selection": selection, "ratio": ratio, "memory": memory}


def command_of(program, options, arguments, seed):
    workers = [] if "--conv-workers" in arguments else ["--conv-workers", "4"]
    data = ["--data-dir", options.data_dir] if options.data_dir else []
    return [str(program), "simulate", *workers, *COMMON, *JOBS[options.job], *data, "--seed", str(seed), "--json", *arguments]


def run(program, options, name, arguments, seed):
    command = command_of(program, options, arguments, seed)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if not lines or done.returncode != 0:
        return {"name": name, "seed": seed, "job": options.job, "failed": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    result = json.loads(lines[-1])
    kept = {key: result[key] for key in ("accuracy", "loss", "seconds", "samples", "history", "staleness")}
    kept["bytes"] = {kind: count["socket"] for kind, count in result["bytes"].items()}
    return {"name": name, "seed": seed, "job": options.job, "arguments": arguments, **kept}


def reach(result, target):
    """(bytes, seconds, samples) when the accuracy first passed the target, on the line between two evaluations."""
    before = {"accuracy": 0.0, "bytes": 0, "seconds": 0.0, "samples": 0}
    for row in result["history"]:
        if row["accuracy"] >= target:
            part = (target - before["accuracy"]) / (row["accuracy"] - before["accuracy"])
            return tuple(before[key] + part * (row[key] - before[key]) for key in ("bytes", "seconds", "samples"))
        before = row
    return None


def human(count):
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def mean_reach(results, target):
    found = [reach(r, target) for r in results]
    if any(f is None for f in found):
        return None
    return [statistics.mean(column) for column in zip(*found)]


def table(rows, runs, targets):
    head = ["setting", "runs", *[f"bytes to {100 * t:.0f} %" for t in targets], *[f"s to {100 * t:.0f} %" for t in targets], "bytes/sample in training",
            "bytes/sample", "push+update B/sample", "update B/sample", "accuracy"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name, _ in rows:
        results = [r for r in runs if r["name"] == name and "failed" not in r]
        failed = [r for r in runs if r["name"] == name and "failed" in r]
        if failed:
            print(f"| {name} | failed: {failed[0]['failed'][:100]} |")
        if not results:
            continue
        reached = [mean_reach(results, t) for t in targets]
        # Before the last evaluation all that was held back is flushed, and everybody takes the exact values.
        training = statistics.mean(r["history"][-2]["bytes"] / r["history"][-2]["samples"] for r in results)
        per_sample = statistics.mean((r["bytes"]["total"] - r["bytes"].get("evaluation", 0)) / r["samples"] for r in results)
        sync = statistics.mean(sum(r["bytes"][k] for k in ("push_conv", "push_fc", "update_conv", "update_fc", "snapshot")) / r["samples"] for r in results)
        update = statistics.mean(sum(r["bytes"][k] for k in ("update_conv", "update_fc", "snapshot")) / r["samples"] for r in results)
        accuracies = [100 * r["accuracy"] for r in results]
        spread = f" ± {statistics.stdev(accuracies):.2f}" if len(accuracies) > 1 else ""
        cells = [name, str(len(results)), *[human(r[0]) if r else "not reached" for r in reached], *[f"{r[1]:.0f}" if r else "-" for r in reached],
                 f"{training:.0f}", f"{per_sample:.0f}", f"{sync:.0f}", f"{update:.0f}", f"{statistics.mean(accuracies):.2f}{spread}"]
        print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=sorted(STUDIES))
    parser.add_argument("--job", choices=sorted(JOBS), default="cnn")
    parser.add_argument("--data-dir", default="", help="folder with the dataset's files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--parallel", type=int, default=1, help="runs at a time, one core each")
    parser.add_argument("--program", default=str(ROOT / "hourglass"))
    parser.add_argument("--out", default="compression.jsonl")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--show", action="store_true", help="print the commands, run nothing")
    options = parser.parse_args()
    rows = STUDIES[options.what]()
    rows = [row for row in rows if options.only in row[0]]
    out = pathlib.Path(options.out)
    runs = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    runs = [r for r in runs if r["job"] == options.job]
    have = {(r["name"], r["seed"]) for r in runs if "failed" not in r}
    todo = [(name, arguments, seed) for seed in range(1, options.seeds + 1) for name, arguments in rows if (name, seed) not in have]
    if options.show:
        for name, arguments, seed in todo:
            print(f"# {name}\n{shlex.join(command_of('./hourglass', options, arguments, seed))}")
        return
    if not options.table:
        with out.open("a") as log, concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
            futures = [pool.submit(run, options.program, options, *task) for task in todo]
            for future in concurrent.futures.as_completed(futures):
                result = future.result()
                runs.append(result)
                log.write(json.dumps(result) + "\n")
                log.flush()
                print(f"{result['name']}, seed {result['seed']}: " + (result.get("failed") or f"{100 * result['accuracy']:.2f} %"), file=sys.stderr)
    table(rows, runs, TARGETS[options.job])


if __name__ == "__main__":
    main()
