#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What deaths cost, over sockets: what docs/results.md quotes.

    bench/macro/recovery.py times        # kill -9 of each role again and again: seconds until it is back at work
    bench/macro/recovery.py survivors    # one of 4 CONV workers is dead: throughput of the others, against their share
    bench/macro/recovery.py accuracy     # a run under chaos against the undisturbed one, same seed

Uses ./hourglass of this checkout (or --program). Other arguments go to the runs as they are.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(options, command, *words):
    """One whole run; its JSON object. Runs under chaos may fail a check: that is for the reader."""
    with tempfile.TemporaryDirectory() as folder:
        line = [options.program, command, "--json", "--no-dashboard", "--run-dir", os.path.join(folder, "run"), *map(str, words), *options.extra]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        result = json.loads(done.stdout) if done.stdout else {}
        if "chaos" not in result and done.returncode != 0:
            sys.exit(f"{' '.join(line)}\nended with {done.returncode}:\n{done.stderr[-3000:]}")
        return result


def times(options):
    for role in options.roles.split(","):
        result = run(options, "chaos", "--actions", "kill", "--roles", role, "--every", options.every, "--minutes", options.minutes,
                     "--samples", options.samples, "--evaluate-every", 10 ** 9)
        back = sorted(strike["recovered_seconds"] for strike in result["chaos"]["strikes"] if strike["recovery"] == "at_work")
        if not back:
            sys.exit(f"{role}: nobody came back: {result['chaos']['strikes']}")
        print(f"{role}: {len(result['chaos']['strikes'])} killed, {len(back)} back at work, median {statistics.median(back):.1f} s, longest {back[-1]:.1f} s; "
              f"checks passed: {result['chaos']['passed']}", flush=True)


class Job:
    """Roles by hand: nobody replaces the dead."""

    def __init__(self, options, folder, *words):
        self.options, self.folder, self.processes = options, folder, []
        self.start("aggregator", "--listen", "127.0.0.1:0", "--port-file", f"{folder}/port", "--run-dir", folder, *words, *options.extra)
        while not os.path.exists(f"{folder}/port"):
            time.sleep(0.05)
        with open(f"{folder}/port", encoding="utf-8") as file:
            self.address = "127.0.0.1:" + file.read().strip()

    def start(self, role, *words):
        with open(f"{self.folder}/{role}.log", "ab") as log:
            self.processes.append(subprocess.Popen([self.options.program, role, *map(str, words)], stdout=log, stderr=log, cwd=self.folder))
        return self.processes[-1]

    def join(self, role):
        return self.start(role, "--aggregator", self.address, "--listen", "127.0.0.1:0", "--threads", 1)

    def samples(self):
        try:
            with open(f"{self.folder}/status.json", encoding="utf-8") as file:
                return json.load(file)["samples_done"]
        except (OSError, ValueError):
            return 0

    def rate(self, seconds):
        before, began = self.samples(), time.monotonic()
        time.sleep(seconds)
        return (self.samples() - before) / (time.monotonic() - began)

    def end(self):
        for process in self.processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


def survivors(options):
    with tempfile.TemporaryDirectory() as folder:
        job = Job(options, folder, "--conv-workers", 4, "--samples", 10 ** 12, "--evaluate-every", 10 ** 12)
        try:
            job.join("data-loader")
            job.join("fc-worker")
            workers = [job.join("conv-worker") for _ in range(4)]
            while job.samples() < 2000:
                time.sleep(0.1)
            ratios = []
            for pair in range(options.pairs):
                whole = job.rate(options.seconds)
                workers.pop().kill()
                three = job.rate(options.seconds)  # from the moment of its death on
                ratios.append(three / (0.75 * whole))
                print(f"pair {pair}: 4 workers {whole:.0f} samples/s, 3 from the death of one on {three:.0f}: {100 * ratios[-1]:.0f} % of their share", flush=True)
                workers.append(job.join("conv-worker"))
                time.sleep(5)
            print(f"survivors' throughput: median {100 * statistics.median(ratios):.0f} % of their share over {options.seconds} s")
        finally:
            job.end()


def accuracy(options):
    for seed in range(1, options.seeds + 1):
        words = ["--seed", seed, "--epochs", options.epochs]
        calm = run(options, "train", *words)
        wild = run(options, "chaos", *words, "--minutes", options.minutes, "--every", options.every)
        print(f"seed {seed}: undisturbed {100 * calm['accuracy']:.2f} % in {calm['seconds']:.0f} s, under chaos {100 * wild['accuracy']:.2f} % in "
              f"{wild['seconds']:.0f} s ({len(wild['chaos']['strikes'])} strikes, {wild['samples_repeated']} samples repeated)", flush=True)
        for check in wild["chaos"]["checks"]:
            print(f"    {'passed' if check['passed'] else 'FAILED'}: {check['name']}: {check['detail']}")
        for row in wild["chaos"]["recoveries"]:
            if row["back"]:
                print(f"    {row['role']} {row['action']}: {row['back']} of {row['strikes']} back, median {row['median_seconds']:.1f} s, longest {row['max_seconds']:.1f} s")
        for row in wild["chaos"]["memory"]:
            print(f"    memory of {row['name']}: {row['first_bytes'] / 1e6:.1f} MB, {row['bytes_per_minute'] / 1e6:+.2f} MB a minute over {row['seconds']:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["times", "survivors", "accuracy"])
    parser.add_argument("--program", default=os.path.join(ROOT, "hourglass"))
    parser.add_argument("--roles", default="conv,fc,loader,aggregator")
    parser.add_argument("--every", default="6-8")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--samples", type=int, default=120_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    options, options.extra = parser.parse_known_args()
    {"times": times, "survivors": survivors, "accuracy": accuracy}[options.what](options)


if __name__ == "__main__":
    main()
