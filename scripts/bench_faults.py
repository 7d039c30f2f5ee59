"""Measures agents of known ability and the fault bench, without a model.

    python -m scripts.bench_faults rankings                   how often 3 instances a template rank two agents rightly
    python -m scripts.bench_faults success RUN…               success of flawed agents over runs, beside their skill
    python -m scripts.bench_faults judges BENCH               every judge with a rule-based reader as its model

`rankings` is grafted: an episode of a flawed agent is either the reference solution, which passes, or has a mistake,
which fails (`success` and the tests hold it to that), so the same draws decide without a browser.
"""

import argparse
import math
import re
import subprocess
import sys
from collections import defaultdict

from scipy.stats import binom

from webassay.agents.flawed.flawed import errs
from webassay.compose.registries import JUDGES, TEMPLATES
from webassay.play.plan import unit_seed
from webassay.workbench import Workbench

READER = "python:scripts.rule_reader:make"


def rankings(given: argparse.Namespace) -> None:
    tasks = [f"{name}.w0s0.{number}" for name in TEMPLATES.names() for number in range(given.instances)]
    print(f"{len(tasks)} tasks, {given.seeds} seeds; ties count half")
    print("skills      measured  theory  difference of the means")
    for low in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        high = round(low + 0.1, 1)
        right = gap = 0.0
        for seed in range(given.seeds):
            passed = [
                sum(not errs(f"flawed[skill={skill}]", unit_seed(seed, task, 0), skill) for task in tasks)
                for skill in (low, high)
            ]
            right += (passed[1] > passed[0]) + 0.5 * (passed[1] == passed[0])
            gap += (passed[1] - passed[0]) / len(tasks)
        print(
            f"{low:.1f}, {high:.1f}    {right / given.seeds:8.3f}  {theory(len(tasks), low, high):6.3f}  "
            f"{gap / given.seeds:.3f}"
        )


def theory(tasks: int, low: float, high: float) -> float:
    """Two independent binomial counts: the better one is ahead, or half of a tie."""
    counts = range(tasks + 1)
    worse, better = binom.pmf(counts, tasks, low), binom.pmf(counts, tasks, high)
    ahead = sum(better[count] * worse[:count].sum() for count in counts)
    return float(ahead + 0.5 * (better * worse).sum())


def success(given: argparse.Namespace) -> None:
    passed: dict[str, list[bool]] = defaultdict(list)
    for row in Workbench().rows(given.places):
        if row["status"] in ("pass", "fail"):
            passed[row["agent"]].append(row["status"] == "pass")
    for agent, results in passed.items():
        skill = float(re.findall(r"skill=([\d.]+)", agent)[0]) if "skill=" in agent else 1.0
        share, error = sum(results) / len(results), math.sqrt(skill * (1 - skill) / len(results))
        off = abs(share - skill) / error if error else 0.0
        print(
            f"{agent}: {sum(results)}/{len(results)} = {share:.3f}, standard error {error:.3f}, off by {off:.2f} of it"
        )


def judges(given: argparse.Namespace) -> None:
    (bench,) = given.places
    for judge in JUDGES.names():
        command = [sys.executable, "-m", "webassay", "verify", bench, "--judge", judge, "--model", READER, "--no-cache"]
        subprocess.run(command, check=True)
    subprocess.run([sys.executable, "-m", "webassay", "faultbench", "score", bench, "--markdown"], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rankings", "success", "judges"))
    parser.add_argument("places", nargs="*")
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=2000)
    chosen = parser.parse_args()
    {"rankings": rankings, "success": success, "judges": judges}[chosen.what](chosen)
