#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deployed_metrics.py METRICS_FILE: every metric that a rule or a panel below deploy/ asks for is one that /metrics has, with these labels.
Exit code 1 and a line for each that is not."""
import json
import pathlib
import re
import sys

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
SELECTOR = re.compile(r"\b(hourglass_\w+)(?:\{([^}]*)\})?")
LABEL = re.compile(r'(\w+)\s*(?:=~|!=|=)\s*"([^"]*)"')
OF_THE_SCRAPE = {"instance", "job"}


def served(text):
    """{name: ({labels}, {(label, value)})}"""
    out = {}
    for line in text.splitlines():
        match = re.match(r"# TYPE (\w+)", line)
        if match:
            out.setdefault(match[1], (set(), set()))
        match = re.match(r"(hourglass_\w+)(?:\{(.*)\})? ", line)
        if match:
            pairs = re.findall(r'(\w+)="([^"]*)"', match[2] or "")
            names, values = out.setdefault(match[1], (set(), set()))
            names.update(name for name, _ in pairs)
            values.update(pairs)
    return out


def expressions():
    board = json.loads((DEPLOY / "grafana" / "hourglass.json").read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield "panel " + panel["title"], target["expr"]
    text = (DEPLOY / "prometheus" / "alerts.yml").read_text()
    for rule in re.split(r"- alert: ", text)[1:]:
        yield "alert " + rule.split()[0], rule[rule.index("expr:"):rule.index("labels:")]


def main():
    metrics = served(pathlib.Path(sys.argv[1]).read_text())
    asked, wrong = 0, []
    for where, expression in expressions():
        for name, selector in SELECTOR.findall(expression):
            asked += 1
            if name not in metrics:
                wrong.append(f"{where}: no metric {name}")
                continue
            labels, values = metrics[name]
            for label, value in LABEL.findall(selector):
                plain = re.fullmatch(r"[\w-]+", value) is not None
                if label not in OF_THE_SCRAPE and (label not in labels or (plain and (label, value) not in values)):
                    wrong.append(f"{where}: no {name} with {label} {value}")
    print("\n".join(wrong) or f"ok    {asked} metrics that deploy/ asks for are served")
    sys.exit(1 if wrong or asked == 0 else 0)


main()
