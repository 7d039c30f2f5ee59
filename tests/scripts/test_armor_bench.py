"""A sample of what `make bench-armor` tries by the hundred thousand, so that the bench itself keeps working."""

from pathlib import Path

import pytest
from scripts.armor import fuzz
from scripts.armor.report import Report

SAMPLE = 300


@pytest.mark.parametrize("what", ["action text", "replies of models", "network logs", "imported files"])
def test_nothing_escapes_and_no_failure_becomes_a_pass(what, tmp_path):
    cases = {
        "action text": fuzz.action_text,
        "replies of models": fuzz.reply,
        "network logs": fuzz.har,
        "imported files": fuzz.Imports(tmp_path / "imports").case,
    }
    report = Report(seed=11)
    fuzz.attempt(report, what, cases[what], SAMPLE)
    assert report.failed == [], f"seed {report.seed}"


def test_fuzzed_rows_of_a_ledger(tmp_path: Path):
    report = Report(scale=SAMPLE * 4 / fuzz.CASES, seed=11)
    fuzz.ledger_rows(report, tmp_path)
    assert report.failed == [], f"seed {report.seed}"


def test_the_undamaged_ones_fail_for_the_right_reason():
    assert fuzz.grade(fuzz.TASK, fuzz.played(fuzz.REPLIES[0]), fuzz.MemoryBlobs()).status == "fail"
    right = fuzz.REPLIES[0].replace("Elmstead Large Serving Spoon Set 99170", fuzz.SECRET)
    assert fuzz.grade(fuzz.TASK, fuzz.played(right), fuzz.MemoryBlobs()).status == "pass"
