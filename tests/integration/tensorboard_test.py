#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorBoard's event files of real runs, read by a reader that shares nothing with the writer: lengths, both checksums, protobuf, steps, and
the last values against result.json."""
import glob
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
ENVIRONMENT = {"PATH": os.environ["PATH"]}  # without variables that are none of the program's
PROGRAM = os.environ.get("HOURGLASS_TEST_PROGRAM", os.path.join(ROOT, "build/release/services/hourglass"))


def crc32c(data):
    """Bit by bit, from the definition."""
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (0x82F63B78 if rest & 1 else 0)
    return rest ^ 0xFFFFFFFF


def unmask(value):
    turned = (value - 0xA282EAD8) & 0xFFFFFFFF
    return (turned << 15 | turned >> 17) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        head, check = data[at:at + 8], data[at + 8:at + 12]
        assert len(head) == 8 and len(check) == 4, f"a torn record at byte {at}"
        (length,) = struct.unpack("<Q", head)
        assert crc32c(head) == unmask(struct.unpack("<I", check)[0]), f"checksum of the length at byte {at}"
        message = data[at + 12:at + 12 + length]
        check = data[at + 12 + length:at + 16 + length]
        assert len(message) == length and len(check) == 4, f"a torn record at byte {at}"
        assert crc32c(message) == unmask(struct.unpack("<I", check)[0]), f"checksum of the message at byte {at}"
        yield message
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field: int, bytes, or the raw 4 or 8 bytes of a float or double."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            assert kind in (1, 2, 5), f"wire type {kind}"
            if kind == 2:
                length, at = varint(data, at)
            else:
                length = 8 if kind == 1 else 4
            value, at = data[at:at + length], at + length
            assert len(value) == length, "a field beyond its message"
        yield key >> 3, value


class Events:
    """One file: its session's first step, and by tag the list of (step, wall time, value)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            messages = list(records(file.read()))
        self.start, self.scalars = None, {}
        for number, message in enumerate(messages):
            event = dict(fields(message))
            (wall,), step = struct.unpack("<d", event[1]), event.get(2, 0)
            if number == 0:
                assert event[3] == b"brain.Event:2", event
            elif 7 in event:
                assert dict(fields(event[7])) == {1: 1}, event
                self.start = step
            else:
                for _, value in fields(event[5]):
                    scalar = dict(fields(value))
                    self.scalars.setdefault(scalar[1].decode(), []).append((step, wall, struct.unpack("<f", scalar[2])[0]))
        assert self.start is not None, "no session"


class Tensorboard(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name
        self.run, self.events = os.path.join(self.folder, "run"), os.path.join(self.folder, "board")

    def words(self, *more, events=None):
        return [PROGRAM, "train", "--model", "lenet5", "--dataset", "synthetic", "--conv-workers", "2", "--batch", "16", "--monitor-port", "0", "--run-dir",
                self.run, "--tensorboard", events or self.events, *map(str, more)]

    def train(self, *more, events=None):
        done = subprocess.run(self.words(*more, events=events), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=300, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def result(self):
        with open(os.path.join(self.run, "result.json"), encoding="utf-8") as file:
            return json.load(file)

    def files(self):
        return sorted(glob.glob(os.path.join(self.events, "*", "*")))

    def check_tags(self, events):
        for tag, points in events.scalars.items():
            steps, walls = [p[0] for p in points], [p[1] for p in points]
            self.assertEqual(walls, sorted(walls), tag)
            if tag.startswith("test/"):
                self.assertEqual(steps, sorted(steps), tag)  # the final parameters may be evaluated at the samples of an evaluation
                self.assertGreaterEqual(steps[0], events.start - 1, tag)  # those of the checkpoint may be evaluated
            else:
                self.assertTrue(all(a < b for a, b in zip(steps, steps[1:])), (tag, steps))
                self.assertGreaterEqual(steps[0], events.start, tag)

    def test_the_last_values_are_those_of_the_result(self):
        began = time.time()
        self.train("--samples", 20000, "--evaluate-every", 5000)
        ended = time.time()
        paths, result = self.files(), self.result()
        self.assertEqual(len(paths), 1, paths)
        self.assertEqual(os.path.dirname(paths[0]), os.path.join(self.events, result["run"]))
        name = re.fullmatch(r"events\.out\.tfevents\.(\d{10})\.(.+)", os.path.basename(paths[0]))
        self.assertIsNotNone(name, paths)
        self.assertTrue(began - 1 <= int(name[1]) <= ended + 1)
        self.assertEqual(name[2], socket.gethostname())
        events = Events(paths[0])
        self.check_tags(events)
        last = {tag: points[-1] for tag, points in events.scalars.items()}
        self.assertEqual(last["train/loss"][0], result["samples"])
        with open(os.path.join(self.run, "status.json"), encoding="utf-8") as file:
            loss = json.load(file)["loss"]
        self.assertAlmostEqual(last["train/loss"][2], loss, delta=1e-6 * max(1, abs(loss)))
        self.assertAlmostEqual(last["test/loss"][2], result["loss"], delta=1e-6 * max(1, abs(result["loss"])))
        self.assertAlmostEqual(last["test/accuracy"][2], result["accuracy"], delta=1e-6)
        for tag, key in (("test/loss", "loss"), ("test/accuracy", "accuracy")):
            for point, row in zip(events.scalars[tag], result["history"], strict=True):
                self.assertEqual(point[0], row["samples"])
                self.assertAlmostEqual(point[2], row[key], delta=1e-6 * max(1, abs(row[key])))
                self.assertTrue(began <= point[1] <= ended)
        for tag in ("speed/samples_per_second", "bytes_per_second/total", "bytes_per_second/push_conv", "bytes/total", "staleness/mean", "staleness/max",
                    "run/version"):
            self.assertIn(tag, last)

    def test_a_run_that_is_resumed_begins_a_new_file(self):
        job = subprocess.Popen(self.words("--samples", 10 ** 8, "--checkpoint-every", 1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        try:
            deadline = time.time() + 120
            while time.time() < deadline and not any(len(Events(path).scalars.get("train/loss", [])) > 2 for path in self.whole_files()):
                time.sleep(0.2)
            job.send_signal(signal.SIGTERM)
            self.assertEqual(job.wait(timeout=60), 0)
        finally:
            if job.poll() is None:
                job.kill()
                job.wait()
        first, done = self.files(), self.result()["samples"]
        self.assertEqual(len(first), 1, first)
        finished = subprocess.run([PROGRAM, "train", "--resume", self.run, "--samples", str(done + 4000)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, check=False, timeout=300, env=ENVIRONMENT)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        paths = self.files()
        self.assertEqual(len(paths), 2, paths)  # the folder was kept by job.toml
        self.assertEqual(paths[0], first[0])
        before, after = Events(paths[0]), Events(paths[1])
        self.check_tags(before)
        self.check_tags(after)
        self.assertTrue(before.scalars["train/loss"][-1][0] <= after.start == after.scalars["train/loss"][0][0])
        self.assertEqual(after.scalars["train/loss"][-1][0], self.result()["samples"])

    def whole_files(self):
        """Those that hold a record at least: a writer may be between open and write."""
        return [path for path in self.files() if os.path.getsize(path) > 100]

    def test_a_folder_that_takes_nothing_is_said_and_the_run_goes_on(self):
        with open(os.path.join(self.folder, "file"), "w", encoding="utf-8") as file:
            file.write("x")
        errors = self.train("--samples", 640, events=os.path.join(self.folder, "file", "below"))
        self.assertRegex(errors, r"no TensorBoard event files: cannot make .*file/below")
        self.assertIn("monitor.tensorboard", errors)
        self.assertEqual(self.result()["samples"], 640)

    def test_without_a_monitor_there_is_a_warning(self):
        self.assertIn("--no-dashboard", self.train("--samples", 640, "--no-dashboard"))
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
