"""Reports, runs and episodes show themselves in a notebook, each in a frame of its own."""

import html
import re
from pathlib import Path

import pytest

from tests.workbench.test_ci import make
from webassay.core.errors import InputError, StoreError
from webassay.core.report import Report
from webassay.workbench import Workbench

AGENT = "<b>a</b>"


def page(shown: str) -> str:
    """What is in the frame; nothing is outside of it."""
    (framed,) = re.findall(r'^<iframe sandbox="allow-scripts" style="[^"]*" srcdoc="([^"]*)"></iframe>$', shown)
    assert "<" not in framed
    return html.unescape(framed)


def test_a_run_its_report_and_its_episodes(tmp_path: Path) -> None:
    bench = Workbench()
    run = bench.open(make(tmp_path / "run", **{AGENT: "pf"}))
    report = run.report()
    assert bench.rows(run) == bench.rows(run.path) and bench.report(run) == report, "it stands for its path"
    shown = page(run._repr_html_())
    assert (
        shown.startswith("<!doctype html>") and "50.0" in shown and html.escape(AGENT) in shown and AGENT not in shown
    )
    assert page(report._repr_html_()) == shown
    assert page(Report.from_json(report.to_json())._repr_html_()) == shown, "also one that was read back"
    assert [line.status for line in run.units()] == ["pass", "fail"]
    episode = run.episode("t1")
    assert "Expected 3, got" in page(episode._repr_html_())
    assert episode == run.episode(episode.unit), "the page is no part of what it is"
    frame = pytest.importorskip("pandas").DataFrame
    assert isinstance(run.frame(), frame) and list(run.frame().score) == [1.0, 0.0]
    assert repr(run) == f"Run({str(tmp_path / 'run')!r})"


def test_what_is_no_run_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises((InputError, StoreError)):
        Workbench().open(tmp_path)
