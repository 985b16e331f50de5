#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Machines as network namespaces: a slow link with a large snapshot, one that loses everything one way, one that loses everything, an
aggregator that moves, a name server that is silent. Needs root. Each test sees that its fault happened; measured times are printed, none
is asserted."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PROGRAM = os.environ.get("HOURGLASS_TEST_PROGRAM", os.path.join(ROOT, "build/release/services/hourglass"))
SPARSE = "topk ratio=0.001 | two_level | rice"
LARGE = "flatten | fc 2400 | relu | fc 1024 | relu | fc"  # 4.35 million parameters on images of 28 x 28: 17.4 MB
HERE, THERE, ELSEWHERE = "10.77.0.1", "10.77.0.2", "10.77.0.3"


def call(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


class Member:
    """One process in a namespace; what it logs goes to a file."""

    def __init__(self, test, space, role, *words):
        self.folder = tempfile.mkdtemp(prefix=role + "-", dir=test.folder)
        self.log_path = os.path.join(self.folder, "log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(["ip", "netns", "exec", space, PROGRAM, role, "--log-format", "text", *map(str, words)],
                                            stdout=log, stderr=log, cwd=self.folder, env={"PATH": os.environ["PATH"]})
        test.addCleanup(self.end)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Network(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hourglass-network-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.here, self.there = f"hg{os.getpid()}a", f"hg{os.getpid()}b"
        for space in (self.here, self.there):
            call("ip", "netns", "add", space)
            self.addCleanup(call, "ip", "netns", "delete", space)
        call("ip", "link", "add", "left", "netns", self.here, "type", "veth", "peer", "name", "right", "netns", self.there)
        for space, device, address in ((self.here, "left", HERE), (self.there, "right", THERE)):
            self.inside(space, "ip", "address", "add", address + "/24", "dev", device)
            self.inside(space, "ip", "link", "set", device, "up")
            self.inside(space, "ip", "link", "set", "lo", "up")

    @staticmethod
    def inside(space, *words):
        return call("ip", "netns", "exec", space, *words)

    def start(self, *words, reach=HERE):
        """`reach`: what the others are told of the aggregator's address."""
        self.run = os.path.join(self.folder, "run")
        self.reach, self.words = reach, words
        self.start_aggregator(HERE)
        self.loader = self.join(self.here, "data-loader")
        self.near = self.join(self.here, "conv-worker")
        self.wait_for("training", lambda: self.samples() > 500)

    def start_aggregator(self, address):
        self.aggregator = Member(self, self.here, "aggregator", "--dataset", "synthetic", "--batch", 32, "--conv-workers", 1, "--fc-workers", 0,
                                 "--staleness", "unlimited", "--listen", address + ":7070", "--run-dir", self.run, *self.words)

    def join(self, space, role, *words):
        address = HERE if space == self.here else THERE
        return Member(self, space, role, "--aggregator", self.reach + ":7070", "--listen", address + ":0", "--threads", 1, *words)

    def own_file(self, space, name, text):
        """What processes of this namespace read in /etc; rewritten in place, so that those that run see it, too."""
        folder = os.path.join("/etc/netns", space)
        if not os.path.isdir(folder):
            os.makedirs(folder)
            self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def samples(self):
        try:
            with open(os.path.join(self.run, "status.json"), encoding="utf-8") as file:
                return json.load(file)["samples_done"]
        except (OSError, ValueError):
            return 0

    def wait_for(self, what, condition, seconds=180):
        """Returns how long it took."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > seconds:
                self.fail(f"no {what} within {seconds} s:\n{self.aggregator.log()[-4000:]}\n{self.far.log()[-2000:] if hasattr(self, 'far') else ''}")
            time.sleep(0.05)
        return time.monotonic() - began

    def goes_on(self, samples):
        before = self.samples()
        self.wait_for("progress", lambda: self.samples() >= before + samples)

    def finish(self, *members):
        """Ends the run early, as SIGTERM does; these members then leave by themselves."""
        self.aggregator.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.aggregator.process.wait(90), 0, self.aggregator.log()[-3000:])
        for member in members:
            self.assertEqual(member.process.wait(90), 0, member.log()[-3000:])
        with open(os.path.join(self.run, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        ledger = result["ledger"]
        self.assertEqual(ledger["received"], ledger["applied"] + sum(ledger["rejected"].values()) + ledger["rolled_back"])

    def test_heartbeats_pass_a_slow_link_beside_a_large_snapshot(self):
        for space, device in ((self.here, "left"), (self.there, "right")):
            self.inside(space, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", "10mbit", "burst", "32kb", "latency", "400ms")
        self.start("--model", LARGE, "--compress", SPARSE, "--dead-after", 5, "--samples", 100_000_000)
        self.far = self.join(self.there, "conv-worker")
        seconds = self.wait_for("worker behind the slow link at work", lambda: ": at work" in self.far.log(), 300)
        sent = int(self.inside(self.here, "cat", "/sys/class/net/left/statistics/tx_bytes"))
        print(f"10 Mbit/s: at work {seconds:.1f} s after its start, {sent / 1e6:.1f} MB through the link", file=sys.stderr)
        self.assertGreater(sent, 15e6, "the snapshot went through the link")
        self.assertNotIn("member lost", self.aggregator.log())
        self.assertEqual(self.aggregator.log().count("member joined"), 3, self.aggregator.log())
        # The far worker has megabytes before it that are not read any more once the aggregator has left: it is not waited for.
        self.finish(self.loader, self.near)

    def cut_and_heal(self, *rules):
        self.start("--model", "lenet5", "--dead-after", 4, "--samples", 100_000_000)
        self.far = self.join(self.there, "conv-worker")
        self.wait_for("far worker at work", lambda: ": at work" in self.far.log())
        for chain in rules:
            self.inside(self.there, "iptables", "-A", chain, "-p", "tcp", "-j", "DROP")
        seconds = self.wait_for("loss of the far worker", lambda: "member lost" in self.aggregator.log())
        self.goes_on(1000)
        time.sleep(20)  # longer than TCP itself tries: both sides have given up their connections
        dropped = sum(int(line.split()[0]) for line in self.inside(self.there, "iptables", "-L", "-v", "-x", "-n").splitlines() if "DROP" in line)
        self.assertGreater(dropped, 0, "packets were dropped")
        self.inside(self.there, "iptables", "-F")
        healed = self.wait_for("return of the far worker", lambda: self.far.log().count(": at work") >= 2)
        print(f"{'+'.join(rules)} dropped ({dropped} packets): given up after {seconds:.1f} s, at work {healed:.1f} s after healing", file=sys.stderr)
        self.assertIsNone(self.far.process.poll(), "the same process comes back")
        self.goes_on(1000)
        self.finish(self.loader, self.near, self.far)

    def test_R6_a_link_that_loses_everything_one_way_heals(self):
        self.cut_and_heal("OUTPUT")

    def test_R6_a_link_that_loses_everything_heals(self):
        self.cut_and_heal("OUTPUT", "INPUT")

    def test_R9_the_aggregator_comes_back_elsewhere_under_its_name(self):
        def name_is_at(address):
            for space in (self.here, self.there):
                self.own_file(space, "hosts", f"127.0.0.1 localhost\n{address} aggregator.test\n")

        name_is_at(HERE)
        self.start("--model", "lenet5", "--dead-after", 4, "--samples", 100_000_000, "--checkpoint-every", 1, reach="aggregator.test")
        self.far = self.join(self.there, "conv-worker")
        workers = (self.near, self.far)
        self.wait_for("far worker at work", lambda: ": at work" in self.far.log())
        self.wait_for("a checkpoint", lambda: any(name.endswith(".hgck") for name in os.listdir(self.run)))
        self.aggregator.end()
        self.inside(self.here, "ip", "address", "add", ELSEWHERE + "/24", "dev", "left")  # at the old one nobody listens any more
        name_is_at(ELSEWHERE)
        self.start_aggregator(ELSEWHERE)
        seconds = self.wait_for("return of all", lambda: all(m.log().count(": at work") >= 2 for m in workers))
        print(f"another address: all at work after {seconds:.1f} s", file=sys.stderr)
        self.goes_on(1000)
        for member in (*workers, self.loader):
            self.assertIsNone(member.process.poll(), "the same processes come back")
        self.assertIn(ELSEWHERE, self.inside(self.there, "ss", "-tn"))
        self.finish(self.loader, *workers)

    def test_R10_a_name_that_nobody_resolves_holds_up_nobody(self):
        self.own_file(self.there, "resolv.conf", f"nameserver {HERE}\noptions timeout:3 attempts:2\n")
        self.inside(self.here, "iptables", "-A", "INPUT", "-p", "udp", "--dport", "53", "-j", "DROP")
        self.start("--model", "lenet5", "--dead-after", 3, "--samples", 100_000_000)
        self.far = self.join(self.there, "conv-worker")
        self.wait_for("far worker at work", lambda: ": at work" in self.far.log())
        # Everybody connects to a monitor, and this one gives a name that only a name server could know, which does not answer.
        monitor = self.join(self.here, "monitor", "--monitor-port", 0, "--host", "monitor.nowhere.test")
        self.wait_for("monitor", lambda: "joined" in monitor.log())
        seconds = self.wait_for("warning", lambda: "monitor.nowhere.test: " in self.far.log())
        asked = sum(int(line.split()[0]) for line in self.inside(self.here, "iptables", "-L", "-v", "-x", "-n").splitlines() if "DROP" in line)
        self.assertGreater(asked, 0, "the name server was asked")
        print(f"{asked} questions dropped, the look-up took {seconds:.1f} s", file=sys.stderr)
        self.assertNotIn("member lost", self.aggregator.log())
        self.assertEqual(self.far.log().count(": at work"), 1)
        self.goes_on(1000)
        self.finish(self.loader, self.near, self.far)


if __name__ == "__main__":
    unittest.main()
