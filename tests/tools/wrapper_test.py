#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wrapper ./hourglass on a tiny project of its own: builds once, passes everything on, tells what is missing."""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
int main(int count, char** words) {
  char folder[4096];
  std::printf("%s", getcwd(folder, sizeof folder));
  for (int i = 1; i < count; ++i) std::printf("|%s", words[i]);
  std::puts(std::getenv("HOURGLASS_SKIP_PACKAGES") ? "|set" : "");
  return 7;
}
"""


class Wrapper(unittest.TestCase):
    def setUp(self):
        top = os.path.realpath(tempfile.mkdtemp(prefix="hourglass wrapper "))
        self.addCleanup(shutil.rmtree, top)
        self.root = os.path.join(top, "a project")
        for folder in ("cmake", "base", "messages", "runtime", "learning", "actors", "services", "tools", "away"):
            os.makedirs(os.path.join(self.root, folder))
        for name in ("hourglass", "CMakePresets.json", "tools/packages"):
            shutil.copy(os.path.join(ROOT, name), os.path.join(self.root, name))
        self.write("tools/packages.txt", "# nothing needed\n")
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(tiny CXX)\nadd_subdirectory(services)\n")
        self.write("services/CMakeLists.txt", "add_executable(hourglass main.cc)\n")
        self.write("services/main.cc", PROGRAM)
        self.away = os.path.join(self.root, "away")

    def write(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, *words, program=None, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOURGLASS_")} | variables
        return subprocess.run([program or os.path.join(self.root, "hourglass"), *words], cwd=self.away, env=environment,
                              capture_output=True, text=True)

    def test_passes_folder_words_and_exit_code(self):
        run = self.start("train", "two words", "--flag=*")
        self.assertEqual((run.stdout, run.returncode), (self.away + "|train|two words|--flag=*\n", 7))
        self.assertEqual(run.stderr, "hourglass: building for the first time, which takes some minutes\n")

    def test_second_start_runs_no_tool(self):
        self.start()
        for tool in ("cmake", "ninja", "dpkg-query", "apt-get"):
            path = os.path.join(self.away, tool)
            self.write(f"away/{tool}", "#!/bin/sh\necho called >&2\nexit 1\n")
            os.chmod(path, 0o755)
        run = self.start("again", PATH=self.away + ":" + os.environ["PATH"])
        self.assertEqual((run.stdout, run.stderr, run.returncode), (self.away + "|again\n", "", 7))

    def test_rebuilds_what_changed(self):
        self.start()
        self.write("services/main.cc", PROGRAM.replace("return 7", "return 9"))
        run = self.start()
        self.assertEqual((run.stderr, run.returncode), ("hourglass: building what changed\n", 9))

    def test_by_a_link_from_elsewhere(self):
        link = os.path.join(self.away, "hg")
        os.symlink("../hourglass", link)
        self.assertEqual(self.start("x", program=link).stdout, self.away + "|x\n")

    def test_moved_folder(self):
        self.start()
        moved = self.root + " moved"
        os.rename(self.root, moved)
        self.root, self.away = moved, os.path.join(moved, "away")
        run = self.start()
        self.assertEqual((run.stdout, run.returncode), (self.away + "\n", 7))

    def test_failed_build_shows_why(self):
        self.write("services/main.cc", "no such word;\n")
        run = self.start()
        self.assertEqual((run.stdout, run.returncode), ("", 70))
        self.assertIn("no such word", run.stderr)
        self.assertIn("build.log", run.stderr)
        self.write("services/main.cc", PROGRAM)
        self.assertEqual(self.start().returncode, 7)

    def test_two_at_a_time(self):
        runs = [subprocess.Popen([os.path.join(self.root, "hourglass")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for _ in range(2)]
        says = [run.communicate()[1] for run in runs]
        self.assertEqual([run.returncode for run in runs], [7, 7])
        self.assertEqual(sum("first time" in text for text in says), 1)

    def test_lists_missing_packages_only(self):
        self.write("tools/packages.txt", "# why\nno-such-package-here   for a test\n")
        run = self.start(HOURGLASS_NO_INSTALL="1")
        self.assertEqual((run.stdout, run.returncode), ("", 69))
        self.assertIn("no-such-package-here     for a test\n", run.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.root, "build/release")))

    def test_can_be_told_not_to_look(self):
        self.write("tools/packages.txt", "no-such-package-here   for a test\n")
        run = self.start(HOURGLASS_SKIP_PACKAGES="1")
        self.assertEqual((run.stdout, run.returncode), (self.away + "\n", 7))


if __name__ == "__main__":
    unittest.main()
