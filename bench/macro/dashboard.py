#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the dashboard costs: what docs/results.md quotes.

    bench/macro/dashboard.py load      # a live job's samples/s: undisturbed against 50 stuck readers, the monitor stopped, the monitor killed
    bench/macro/dashboard.py memory    # the monitor's resident memory over ten minutes of states of 100 workers, with readers
    bench/macro/dashboard.py frames    # frames/s of the page: 100 workers, 20,000 points, a state each second, while it zooms and pans

`load` compares windows of one job, an undisturbed one beside each disturbed one, in alternating order. Other arguments go to the job.
"""
import argparse
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETTLE_SECONDS = 3
KILL_EVERY_SECONDS = 12  # longer than what counts as a quick death
EVENTS = b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


def until(what, condition, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    sys.exit(f"never: {what}")


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return ""


def metric(port, name):
    values = [line.split()[1] for line in get(port, "/metrics").splitlines() if line.startswith(name + " ")]
    return float(values[0]) if values else 0.0


def stuck_reader(port):
    """Asks for the events and never reads one."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    reader.connect(("127.0.0.1", port))
    reader.sendall(EVENTS)
    return reader


class Job:
    """`hourglass train` with a monitor."""

    def __init__(self, options, folder):
        self.folder = os.path.join(folder, "run")
        words = ["train", "--dataset", "synthetic", "--model", options.model, "--conv-workers", 2, "--fc-workers", 1, "--samples", 10 ** 12, "--evaluate-every",
                 10 ** 12, "--monitor-port", 0, "--run-dir", self.folder, *options.extra]
        self.process = subprocess.Popen([options.program, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        until("training begins", lambda: self.status().get("samples_done", 0) > 2000)
        self.wait_for_monitor()

    def status(self):
        try:
            with open(os.path.join(self.folder, "status.json"), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def port(self):
        with contextlib.suppress(OSError, ValueError), open(os.path.join(self.folder, "monitor.port"), encoding="utf-8") as file:
            return int(file.read())
        return 0

    def monitor(self):
        """Its process id; 0 while there is none."""
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                with open(f"/proc/{name}/stat", encoding="utf-8") as file:
                    parent = int(file.read().rsplit(") ", 1)[1].split()[1])
                with open(f"/proc/{name}/cmdline", encoding="utf-8") as file:
                    if parent == self.process.pid and file.read().split("\0")[1] == "monitor":
                        return int(name)
        return 0

    def wait_for_monitor(self):
        until("the monitor is a member", lambda: get(self.port(), "/readyz") == "ok\n")

    def rate(self, seconds):
        """Samples/s by the aggregator's own clock, between two of its reports."""
        before = self.status()
        time.sleep(seconds)
        after = until("the job reports", lambda: self.status() if self.status().get("seconds", 0) > before["seconds"] else None)
        return (after["samples_done"] - before["samples_done"]) / (after["seconds"] - before["seconds"])

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def stuck_readers(job, options):
    port = job.port()
    readers = [stuck_reader(port) for _ in range(options.readers)]
    until("all readers are in", lambda: metric(port, "hourglass_event_streams") == options.readers)
    dropped = metric(port, "hourglass_events_dropped_total")
    until("the kernel's buffers are full", lambda: metric(port, "hourglass_events_dropped_total") >= dropped + options.readers, 300)
    yield lambda: f"{metric(port, 'hourglass_event_streams'):.0f} streams, {metric(port, 'hourglass_events_dropped_total'):.0f} events dropped so far"
    for reader in readers:
        reader.close()


@contextlib.contextmanager
def stopped(job, _):
    process = job.monitor()
    os.kill(process, signal.SIGSTOP)

    def seen():
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return "state " + file.read().rsplit(") ", 1)[1].split()[0]

    yield seen
    os.kill(process, signal.SIGCONT)
    job.wait_for_monitor()


@contextlib.contextmanager
def killed(job, _):
    ending, kills = threading.Event(), []

    def kill():
        while True:
            process = job.monitor()
            if process:
                os.kill(process, signal.SIGKILL)
                kills.append(process)
            if ending.wait(KILL_EVERY_SECONDS):
                return

    killer = threading.Thread(target=kill)
    killer.start()
    yield lambda: f"{len(kills)} monitors killed"
    ending.set()
    killer.join()
    job.wait_for_monitor()


def load(options):
    disturbances = {"stuck readers": stuck_readers, "monitor stopped": stopped, "monitor killed": killed}
    wanted = options.only.split(",") if options.only else list(disturbances)
    ratios = {name: [] for name in wanted}
    with tempfile.TemporaryDirectory() as folder:
        job = Job(options, folder)
        try:
            time.sleep(SETTLE_SECONDS)
            for pair in range(options.pairs):
                for name in wanted:
                    rates, seen = {}, ""
                    for disturbed in ([False, True] if pair % 2 == 0 else [True, False]):
                        if disturbed:
                            with disturbances[name](job, options) as look:
                                rates[True] = job.rate(options.seconds)
                                seen = look()
                        else:
                            rates[False] = job.rate(options.seconds)
                        time.sleep(SETTLE_SECONDS)
                    ratios[name].append(rates[True] / rates[False])
                    print(f"pair {pair}, {name} ({seen}): {rates[False]:.0f} samples/s undisturbed, {rates[True]:.0f} disturbed, ratio {ratios[name][-1]:.3f}; "
                          f"load {os.getloadavg()[0]:.1f}", flush=True)
        finally:
            job.end()
    print("| disturbance | pairs | median ratio | least | greatest |\n|---|---|---|---|---|")
    for name, values in ratios.items():
        print(f"| {name} | {len(values)} | {statistics.median(values):.3f} | {min(values):.3f} | {max(values):.3f} |")


@contextlib.contextmanager
def demo(options, *words):
    """The dashboard of a synthetic run: the real monitor and server, told by synthetic messages. It ends with its input."""
    process = subprocess.Popen([options.demo, "0", *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process, int(process.stdout.readline().split()[1])
    finally:
        process.stdin.close()
        process.wait()


def resident(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:"))


def slope(points):
    mean_x, mean_y = statistics.fmean(x for x, _ in points), statistics.fmean(y for _, y in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def memory(options):
    ended = threading.Event()

    def read_on(port):
        with socket.create_connection(("127.0.0.1", port)) as reader:
            reader.sendall(EVENTS)
            reader.settimeout(0.5)
            while not ended.is_set():
                with contextlib.suppress(TimeoutError):
                    if not reader.recv(1 << 16):
                        return

    with demo(options, options.before, 10 ** 9, options.workers, "keep", options.pause) as (process, port):
        stuck = [stuck_reader(port) for _ in range(options.readers)]
        eager = [threading.Thread(target=read_on, args=(port,)) for _ in range(10)]
        for thread in eager:
            thread.start()
        sequence = lambda: json.loads(get(port, "/api/v1/state"))["sequence"]  # noqa: E731
        first, points = sequence(), []
        while not points or points[-1][0] < options.states:
            points.append((sequence() - first, resident(process)))
            time.sleep(max(0.2, options.pause * options.states / 1e3 / 60))
        dropped = metric(port, "hourglass_events_dropped_total")
        ended.set()
        for thread in eager:
            thread.join()
        for reader in stuck:
            reader.close()
    half = points[len(points) // 2:]
    print("| workers | states before | states | stuck readers | events dropped | first MB | last MB | greatest MB | slope, MB per 600 states | of the second half |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print(f"| {options.workers} | {options.before} | {points[-1][0]} | {options.readers} | {dropped:.0f} | {points[0][1] / 1e6:.1f} | {points[-1][1] / 1e6:.1f} | "
          f"{max(y for _, y in points) / 1e6:.1f} | {600 * slope(points) / 1e6:+.2f} | {600 * slope(half) / 1e6:+.2f} |")


def frames(options):
    # 900 rows of a second and as many of ten seconds as the run has had
    with demo(options, options.before or 8000, 20000, options.workers, "keep", 1000) as (_, port):
        subprocess.run(["node", os.path.join(ROOT, "bench/macro/dashboard_frames.mjs"), f"http://127.0.0.1:{port}/", options.browser, str(options.frame_seconds)],
                       check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["load", "memory", "frames"])
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/services/hourglass"))
    parser.add_argument("--demo", default=os.path.join(ROOT, "build/release/tests/services/dashboard/dashboard_demo"))
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--model", default="lenet5")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=40, help="of each window of load")
    parser.add_argument("--only", default="", help="some disturbances of load, by name, with commas")
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--states", type=int, default=600, help="of memory: ten minutes of them")
    parser.add_argument("--before", type=int, default=0, help="seconds of the synthetic run that have passed before")
    parser.add_argument("--pause", type=int, default=100, help="milliseconds from one state of memory to the next; 1000: as in a run")
    parser.add_argument("--frame-seconds", type=float, default=10)
    options, options.extra = parser.parse_known_args()
    {"load": load, "memory": memory, "frames": frames}[options.what](options)


if __name__ == "__main__":
    main()
