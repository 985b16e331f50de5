#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a slow worker costs over real sockets: four CONV workers on loopback, each in a control group with a CPU quota, one with a tenth of the others'.

    sudo bench/macro/stragglers_sockets.py            # needs root and cgroup v1 or v2; samples a second, accuracy

`lenet5` on Fashion-MNIST, the whole model on the CONV workers, batches of 64. The sum of the speeds is what the four make without a bound."""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERIOD_US = 50000
ROWS = [("unlimited", ["--staleness", "unlimited"], 120000), ("s = 0", ["--staleness", "0"], 20000), ("s = 4", ["--staleness", "4"], 20000),
        ("s = 4, steps by speed", ["--staleness", "4", "--local-policy", "speed"], 120000),
        ("undisturbed, s = 4", ["--staleness", "4"], 120000)]


class Quota:
    """A control group of its own for one process."""

    def __init__(self, name, share):
        version1 = pathlib.Path("/sys/fs/cgroup/cpu")
        self.folder = (version1 if version1.exists() else pathlib.Path("/sys/fs/cgroup")) / f"hourglass-{os.getpid()}-{name}"
        self.folder.mkdir()
        quota = int(PERIOD_US * share)
        if version1.exists():
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (self.folder / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (self.folder / "cpu.max").write_text(f"{quota} {PERIOD_US}")

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        for _ in range(50):
            try:
                return self.folder.rmdir()
            except OSError:  # its process is not quite gone
                time.sleep(0.1)


def wait_for(path):
    for _ in range(300):
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        time.sleep(0.1)
    raise SystemExit(f"{path} does not come")


def run(program, arguments, samples, shares):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="stragglers-"))
    run_dir, port_file = folder / "run", folder / "port"
    job = ["--model", "lenet5", "--dataset", "fashion_mnist", "--conv-workers", str(len(shares)), "--fc-workers", "0", "--batch", "64", "--samples",
           str(samples), "--evaluate-every", str(10 * samples), *arguments]
    quotas = [Quota(str(i), share) for i, share in enumerate(shares)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen([program, "aggregator", *job, "--run-dir", str(run_dir), "--listen", "127.0.0.1:0", "--port-file", str(port_file)], **quiet)]
    address = ["--aggregator", "127.0.0.1:" + wait_for(port_file)]
    try:
        processes.append(subprocess.Popen([program, "data-loader", *address], **quiet))
        processes += [subprocess.Popen([program, "conv-worker", *address], preexec_fn=quota.enter, **quiet) for quota in quotas]
        processes[0].wait(timeout=3600)
        return json.loads((run_dir / "result.json").read_text())
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        for quota in quotas:
            quota.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/services/hourglass"))
    parser.add_argument("--share", type=float, default=0.35, help="of a core, for each worker that is not slow")
    options = parser.parse_args()
    print("| setting | samples/s | of the sum of the speeds | accuracy |\n|---|---|---|---|")
    whole = None
    for name, arguments, samples in ROWS:
        slow = options.share if "undisturbed" in name else options.share / 10
        result = run(options.program, arguments, samples, [slow] + [options.share] * 3)
        speed = result["samples_per_s"]
        whole = whole or speed
        part = "" if "undisturbed" in name else f"{100 * speed / whole:.0f} %"
        print(f"| {name} | {speed:.0f} | {part} | {100 * result['accuracy']:.2f} % |", flush=True)


if __name__ == "__main__":
    main()
