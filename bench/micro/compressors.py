#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every compressor of the registry on its example: speed, size, error. Puts the tables into docs/results.md between its markers.

    bench/micro/compressors.py               # 1 M and 25 M parameters
    bench/micro/compressors.py --millions 1 --stdout

Needs the benches: cmake --preset release -DHOURGLASS_BENCH=ON && ninja -C build/release compressors
"""
import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEGIN = "<!-- compressors: begin -->"
END = "<!-- compressors: end -->"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millions", nargs="+", default=["1", "25"], help="of parameters (default 1 25)")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"), help="build folder")
    parser.add_argument("--stdout", action="store_true", help="print only")
    options = parser.parse_args()
    line = [os.path.join(options.build, "bench/micro/compressors"), *options.millions]
    tables = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True).stdout
    if options.stdout:
        print(tables)
        return
    path = os.path.join(ROOT, "docs/results.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"docs/results.md has no '{BEGIN}' ... '{END}'")
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + begin + "\n" + tables + "\n" + end + after)


if __name__ == "__main__":
    main()
