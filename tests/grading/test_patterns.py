"""Patterns of keys may come from anybody's file: none of them runs for ever."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.core.errors import GradingError
from webassay.grading.rules import patterns
from webassay.grading.rules.patterns import matches, may_run_long

ENDLESS = [
    r"(a+)+b",
    r"(a|aa)+b",
    r"(a|a)*b",
    r"(?:a*)*b",
    r"((a?){30}){30}b",
    r"(?P<x>a+)+(?P=x)b",
    r"(?i:(?:a+)+)b",
    r".*.*.*.*b",
    r"(?=(a+)+b)a",
]
ORDINARY = [
    r"HOM-\d+",
    r".*/orders/\d+/?",
    r"(foo|bar) baz",
    r"[^/]*/p/[\w-]+",
    r"(yes)?",
    r"\$?1,234(\.50)?",
    "a{2,5}",
]


@pytest.mark.parametrize("pattern", ENDLESS)
def test_what_could_run_for_ever_is_told_from_what_cannot(pattern):
    assert may_run_long(pattern)


@pytest.mark.parametrize("pattern", ORDINARY)
def test_an_ordinary_pattern_needs_no_other_process(pattern, monkeypatch):
    monkeypatch.setattr(patterns, "_HELPER", None)
    assert not may_run_long(pattern)
    assert matches(pattern, "no such thing") is False


def test_one_that_runs_for_ever_is_stopped_and_named(monkeypatch):
    monkeypatch.setattr(patterns, "LONGEST_SECONDS", 0.3)
    with pytest.raises(GradingError, match=r"'\(a\+\)\+b' takes more than 0.3 seconds on a text of 60 characters"):
        matches("(a+)+b", "a" * 60)
    assert matches("(a+)+b", "aaab")


@given(st.text("ab/", max_size=12))
def test_the_other_process_says_what_this_one_would(text):
    for pattern in (r"(?:/[ab]+)*", r"(a|b/)*", r"([ab]+/)*b"):
        for how in ("fullmatch", "match", "search"):
            assert matches(pattern, text, re.IGNORECASE, how) == bool(getattr(re.compile(pattern, re.I), how)(text))


def test_threads_take_turns():
    found = []
    threads = [
        threading.Thread(target=lambda n=n: found.append((n, matches("(?:x+)+y", "x" * n + "y")))) for n in range(1, 20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(n, True) for n in range(1, 20)]
