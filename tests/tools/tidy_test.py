#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/tidy finds each kind of violation planted in a small tree, and nothing in the clean one."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"


class Tidy(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="hourglass-tidy-")
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("docs/architecture.md", ".clang-format"):
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                self.write(name, file.read())
        for name in ("base/a.h", "messages/a.h", "messages/gradient_block.h", "runtime/a.h", "runtime/zmq/a.h", "learning/nn/a.h",
                     "actors/fc_worker.h", "actors/conv_worker.h", "services/a.h"):
            self.write(name, HEADER)
        self.write("base/a.cc", SPDX + '#include "base/a.h"\n')
        self.write("tests/base/a_test.cc", SPDX + '#include "services/a.h"\n#include <zmq.hpp>\n')

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def findings(self, *options):
        run = subprocess.run([os.path.join(ROOT, "tools/tidy"), "--root", self.root, *options], capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        found = re.findall(r"^(\S+):(\d+): \[(\w+)\]", run.stdout, re.M)
        self.assertEqual(run.returncode, 1 if found else 0)
        return [(name, int(line), rule) for name, line, rule in found]

    def expect(self, name, text, line, rule):
        self.write(name, text)
        self.assertEqual(self.findings("--no-format"), [(name, line, rule)])

    def test_clean_tree(self):
        self.assertEqual(self.findings(), [])

    def test_upward_include(self):
        self.expect("base/b.h", HEADER + '#include "messages/a.h"\n', 3, "layers")

    def test_single_header_of_a_layer(self):
        self.write("learning/compress/a.h", HEADER + '#include "messages/gradient_block.h"\n')
        self.assertEqual(self.findings("--no-format"), [])
        self.expect("learning/compress/b.h", HEADER + '#include "messages/a.h"\n', 3, "layers")

    def test_actor_sees_no_reactor(self):
        self.expect("actors/fc_worker.h", HEADER + '#include "runtime/a.h"\n#include "runtime/zmq/a.h"\n', 4, "layers")

    def test_actors_do_not_see_each_other(self):
        self.expect("actors/fc_worker.h", HEADER + '#include "actors/conv_worker.h"\n', 3, "layers")

    def test_shared_part_sees_no_actor(self):
        self.write("actors/lease.h", HEADER)
        self.write("actors/fc_worker.h", HEADER + '#include "actors/lease.h"\n')
        self.assertEqual(self.findings("--no-format"), [])
        self.expect("actors/lease.h", HEADER + '#include "actors/conv_worker.h"\n', 3, "layers")

    def test_product_sees_no_tests(self):
        self.expect("services/b.h", HEADER + '#include "tests/base/a.h"\n', 3, "layers")

    def test_folder_without_row(self):
        self.expect("learning/other/a.h", HEADER, 1, "layers")

    def test_third_party_doors(self):
        for header in ("zmq.hpp", "dnnl.hpp", "Eigen/Core", "microhttpd.h", "xxhash.h", "msgpack.hpp"):
            with self.subTest(header):
                self.expect("runtime/b.h", HEADER + f"#include <{header}>\n", 3, "door")

    def test_msgpack_not_even_in_headers_of_messages(self):
        self.expect("messages/b.h", HEADER + "#include <msgpack.hpp>\n", 3, "door")

    def test_clocks(self):
        for code in ("auto t = std::chrono::steady_clock::now();", "std::random_device d;", "long t = time(nullptr);", "int r = rand();"):
            with self.subTest(code):
                self.expect("actors/fc_worker.h", HEADER + code + "\n", 3, "clock")

    def test_clock_in_a_comment_or_reactor_is_fine(self):
        self.write("base/b.h", HEADER + "// unlike steady_clock\n")
        self.write("runtime/zmq/b.h", HEADER + "inline auto t = std::chrono::steady_clock::now();\n")
        self.assertEqual(self.findings("--no-format"), [])

    def test_standard_distribution(self):
        self.expect("base/b.h", HEADER + "std::normal_distribution<float> n;\n", 3, "random")

    def test_empty_name(self):
        self.expect("base/b.h", HEADER + "class Thing" + "Manager {};\n", 3, "name")

    def test_missing_test(self):
        self.expect("base/b.cc", SPDX, 1, "untested")

    def test_suite_named_for_a_source(self):
        self.write("base/b.cc", SPDX)
        self.write("tools/tidy.toml", '# SPDX\n[covered_by]\n"base/b.cc" = "tests/base/a_test.cc"\n')
        self.assertEqual(self.findings("--no-format"), [])
        self.write("tools/tidy.toml", '[covered_by]\n"base/b.cc" = "tests/base/gone_test.cc"\n"base/z.cc" = "tests/base/a_test.cc"\n')
        self.assertEqual([f[2] for f in self.findings("--no-format")], ["untested", "untested"])

    def test_licence_and_guard(self):
        self.expect("base/b.h", "#pragma once\n", 1, "spdx")
        self.expect("base/b.h", SPDX, 1, "once")

    def test_length(self):
        self.expect("base/b.h", HEADER + "\n" * 399, 401, "length")

    def test_unfinished(self):
        self.expect("base/b.h", HEADER + "// TO" + "DO: more\n", 3, "unfinished")

    def test_machine_path(self):
        self.expect("docs/a.md", "see /ho" + "me/somebody/file\n", 1, "path")

    CASES = ("# SPDX\n[sections]\nR = \"peers\"\n[cases]\nR1 = \"one dies\"\nR2 = \"two die\"\nR3 = \"all die\"\n"
             "[left]\nR3 = \"nobody is left to tell\"\n")
    PAGE = "# Testing\n\n<!-- cases: written by tools/cases -->\n<!-- end of cases -->\n\nMore.\n"

    def write_cases(self):
        self.write("tests/cases.toml", self.CASES)
        self.write("docs/testing.md", self.PAGE)
        self.write("tests/base/a_test.cc", SPDX + "TEST_F(Peers, R1_R2_OneOrTwoDie) {}\n")
        self.write("tests/net/net_test.py", "# SPDX-License-Identifier: Apache-2.0\nclass Net:\n    def test_3_R2_two_die(self):\n        pass\n")

    def make_table(self):
        return subprocess.run([os.path.join(ROOT, "tools/cases"), "--root", self.root], capture_output=True, text=True)

    def test_table_of_cases(self):
        self.write_cases()
        self.assertEqual(self.findings("--no-format"), [("docs/testing.md", 3, "cases")])
        self.assertEqual(self.make_table().returncode, 0)
        self.assertEqual(self.findings("--no-format"), [])
        with open(os.path.join(self.root, "docs/testing.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("| R1 | one dies | `base/a_test.cc` OneOrTwoDie |\n", page)
        self.assertIn("| R2 | two die | `base/a_test.cc` OneOrTwoDie; `net/net_test.py` two_die |\n", page)
        self.assertIn("| R3 | all die | left: nobody is left to tell |\n", page)
        self.assertTrue(page.startswith("# Testing\n\n<!--") and page.endswith("-->\n\nMore.\n"), page)

    def test_table_of_cases_is_old(self):
        self.write_cases()
        self.make_table()
        self.write("tests/base/b_test.cc", SPDX + "TEST(Peers, R1_OneMoreDies) {}\n")
        self.assertEqual(self.findings("--no-format"), [("docs/testing.md", 3, "cases")])

    def test_case_without_test_or_reason(self):
        self.write_cases()
        self.make_table()
        self.write("tests/net/net_test.py", "# SPDX-License-Identifier: Apache-2.0\n")
        self.write("tests/base/a_test.cc", SPDX + "TEST_F(Peers, R1_OneDies) {}\n")
        self.assertEqual(self.findings("--no-format"), [("tests/cases.toml", 1, "cases")])

    def test_case_with_test_and_reason_or_that_is_none(self):
        self.write_cases()
        self.make_table()
        self.write("tests/base/a_test.cc", SPDX + "TEST(Peers, R1_R2_Die) {}\n\nTEST(Peers, R3_AllDie) {}\nTEST(Peers, R4_NoneDies) {}\n")
        self.assertEqual(self.findings("--no-format"), [("tests/base/a_test.cc", 4, "cases"), ("tests/base/a_test.cc", 5, "cases")])

    def test_format(self):
        self.write("base/b.h", HEADER + "int   f( );\n")
        self.assertEqual({f[2] for f in self.findings()}, {"format"})

    def test_fix_format(self):
        self.write("base/b.h", HEADER + "int   f( );\n")
        self.assertEqual(self.findings("--fix-format"), [])


if __name__ == "__main__":
    unittest.main()
