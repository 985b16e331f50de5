#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docker-compose up, six CONV workers, two, four, stop: training goes on through all of it, every container exits 0, the run is saved. On a real engine: the one that runs here, or one of the test's own (tests/e2e/engine.py)."""
import json
import os
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from engine import ROOT, Engine, call  # noqa: E402  (the folder of this script is no package)

PROJECT = f"hourglasstest{os.getpid()}"
IMAGE = os.environ.get("HOURGLASS_TEST_IMAGE")  # an image at hand; without, one is built and removed again
SETTINGS = {
    "HOURGLASS_IMAGE": IMAGE or f"{PROJECT}:latest",
    "HOURGLASS_MONITOR_PORT": "0",  # any free one
    "HOURGLASS_MODEL": "lenet5",
    "HOURGLASS_EPOCHS": "1000",
    "HOURGLASS_EVALUATE_EVERY": "20000",
}


class Compose(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine = Engine()
        cls.engine.__enter__()
        cls.addClassCleanup(cls.engine.__exit__)
        cls.environment = os.environ | SETTINGS
        cls.began = str(int(time.time()))
        cls.addClassCleanup(cls.remove_everything)
        if IMAGE:
            cls.compose("up", "-d", "--no-build")
        else:
            cls.compose("up", "-d", "--build")
        published = cls.compose("port", "monitor", "8080").strip()
        cls.base = "http://127.0.0.1:" + published.rsplit(":", 1)[1]

    @classmethod
    def compose(cls, *words, **options):
        return call(*cls.engine.compose, "-f", os.path.join(ROOT, "docker-compose.yml"), "-p", PROJECT, *words, cwd=ROOT,
                    env=cls.environment, **options)

    @classmethod
    def remove_everything(cls):
        cls.compose("down", "--volumes", "--remove-orphans", "--timeout", "5", check=False)
        if not IMAGE:
            call("docker", "image", "rm", SETTINGS["HOURGLASS_IMAGE"], check=False)

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=5) as answer:
            return answer.read().decode()

    def wait_for(self, what, condition, seconds=90):
        """Waits until the monitor's state fulfils the condition; on a time-out tells what was there instead."""
        state = None
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                state = json.loads(self.get("/api/v1/state"))
                if condition(state):
                    return state
            except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
                state = state or str(error)
            time.sleep(0.5)
        containers = call("docker", "ps", "-a", "--filter", f"label=com.docker.compose.project={PROJECT}", check=False)
        logs = self.compose("logs", "--no-color", "--tail", "15", check=False)
        self.fail(f"{what}: not within {seconds} s. State: {str(state)[:1500]}\n{containers}\n{logs}")

    @staticmethod
    def active(state, role):
        return {w["id"] for w in state["workers"] if w["role"] == role and w["presence"] == "active"}

    def wait_for_progress(self, conv_workers):
        """All expected workers are at work, and samples are still being trained after they are."""
        state = self.wait_for(f"{conv_workers} CONV workers", lambda s: len(self.active(s, "conv-worker")) == conv_workers)
        before = state["run"]["samples_done"]
        return self.wait_for("progress", lambda s: s["run"]["samples_done"] >= before + 2000 and
                             len(self.active(s, "conv-worker")) == conv_workers)

    def test_1_trains(self):
        self.wait_for("start of training", lambda s: s["run"]["phase"] == "training" and s["run"].get("samples_done", 0) > 0)
        state = self.wait_for_progress(2)
        self.assertEqual(len(self.active(state, "fc-worker")), 1)
        self.assertEqual(state["ledger"]["received"], state["ledger"]["applied"] + sum(state["ledger"]["rejected"].values()))

    def test_2_page_on_the_published_port(self):
        page = self.get("/")
        self.assertIn("<title>", page)
        self.assertIn("Hourglass", page)

    def test_3_S11_six_workers_then_two_then_four(self):
        for workers in (6, 2, 4):
            self.compose("up", "-d", "--no-build", "--scale", f"conv-worker={workers}")
            self.wait_for_progress(workers)
            state = self.wait_for(f"samples by each of the {workers}", lambda s: all(
                (w["samples"] or 0) > 0 for w in s["workers"] if w["role"] == "conv-worker" and w["presence"] == "active"))
            self.assertEqual(len(self.active(state, "conv-worker")), workers)
            self.assertEqual(state["run"]["phase"], "training")

    def test_4_R13_stop_saves_the_run(self):
        state = self.wait_for("an evaluation", lambda s: len(s["history"]) > 0)
        self.compose("stop")
        deaths = [json.loads(line) for line in call(
            "docker", "events", "--since", self.began, "--until", str(int(time.time()) + 1), "--filter", "event=die",
            "--filter", f"label=com.docker.compose.project={PROJECT}", "--format", "{{json .Actor.Attributes}}").splitlines()]
        ends = [(d["name"], d["exitCode"]) for d in deaths]
        self.assertEqual([end for end in ends if end[1] != "0"], [], "containers that did not exit 0: 137 is one that was killed")
        self.assertEqual(len(ends), 12, f"six CONV workers, two that came after four had gone, and the four others: {ends}")
        evaluation = json.loads(call("docker", "run", "--rm", "--read-only", "--tmpfs", "/tmp", "-v", f"{PROJECT}_runs:/runs:ro",
                                     SETTINGS["HOURGLASS_IMAGE"], "evaluate", "--from", "/runs/model.safetensors", "--json"))
        self.assertGreater(evaluation["accuracy"], state["history"][-1]["accuracy"] - 0.05)
        self.assertGreater(evaluation["accuracy"], 0.5)


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=True)
