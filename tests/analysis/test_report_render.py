"""The same report as a terminal table, Markdown, CSV, JSON and a page; the texts are pinned as golden files.

`python -m tests.analysis.test_report_render` writes the golden files again.
"""

import csv
import io
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from tests.support.rows import rows_of
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.output import text
from webassay.analysis.output.svg import Bar, forest
from webassay.analysis.results import plots
from webassay.analysis.results import report_text as render
from webassay.analysis.results.page import to_html
from webassay.analysis.results.report import summarize
from webassay.analysis.results.spreadsheet import to_csv
from webassay.core.report import Interval, Report

GOLDEN = Path(__file__).parents[1] / "golden" / "report"


def sample() -> Report:
    """Three agents with everything that a report can show: faults, gaps, trials, refusals, baselines, bad names."""
    rows = [
        replace(
            row, kind="unachievable" if i == 7 else "retrieve", sites=("shop",) if i % 2 else ("forum",),
            groups={"difficulty": ("easy" if i < 4 else "hard",)}, baseline=agent == "always yes", steps=4 + i,
            seconds=2.5 * i, cost_usd=0.01 * (i + 1), actions={"click": i, "fill": 1}, errors=i % 3,
            findings=(("response.results", "mismatch"),) if row.status == "fail" else (), recovered=i == 1,
            key_hash=f"k{i}",
        )
        for agent, statuses in {"clerk": "ppppfpxp", "<b>intern</b>|=1+1": "pfpfmfpa", "always yes": "fffffffp"}.items()
        for i, row in enumerate(rows_of(
            agent, statuses, benchmark="arena", ending="answered", tools={"calculator": 1}, answered=True,
            checkpoint_reach=0.5, fingerprint="rules 0.1.0 0123456789ab",
        ))
    ]  # fmt: skip
    rows += [replace(row, trial=1) for row in rows if row.agent == "clerk"]
    return summarize(rows, title="Sample *report*")


RENDERED = {"report.md": render.to_markdown, "report.csv": to_csv, "report.json": render.to_json}


@pytest.mark.parametrize("name", RENDERED)
def test_golden(name: str) -> None:
    assert RENDERED[name](sample()) == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 200])
def test_terminal_table_shows_every_count(width: int) -> None:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(render.to_table(sample()))
    text = console.export_text()
    # Names and numbers stand whole, also on a narrow terminal.
    for whole in ("always yes", "87.5 % [31.6, 99.1]", "85.7 % [60.1, 96.0]", "12 / 14", "[-100.0, 5.0]", "0.057"):
        assert whole in text
    for heading in ("planned", "attempted", "faulted", "abstained", "missing", "Paired differences to clerk"):
        assert heading in text
    assert "6 of 8 units have a verdict (1 missing, 1 abstained)" in text


def test_csv_is_not_computed_by_a_spreadsheet() -> None:
    report = summarize([ResultRow(agent="=1+1", task_id="t", status="pass")])
    rows = list(csv.DictReader(io.StringIO(to_csv(report))))
    assert (rows[0]["agent"], rows[0]["macro"], rows[0]["macro_low"]) == ("'=1+1", "1.0", "")


def test_json_is_the_record() -> None:
    assert Report.from_json(render.to_json(sample())) == sample()


class TestNumbers:
    def test_how_an_interval_is_written(self) -> None:
        nothing = Interval(value=None, units=0, method="t")
        assert [text.with_bounds(nothing), text.bounds(nothing), text.points(nothing), text.money(None)] == ["–"] * 4
        assert text.with_bounds(Interval(value=0.5, units=1, method="t")) == "50.0 %"
        found = Interval(value=0.49, low=0.442, high=0.538, units=190, method="wilson-t")
        assert text.with_bounds(found) == "49.0 % [44.2, 53.8]"


class TestConclusion:
    def said(self, **agents: str) -> list[str]:
        rows = [row for agent, letters in agents.items() for row in rows_of(agent, letters, 1)]
        return render.conclusion(summarize(rows))

    def test_who_is_best_who_is_worse_and_who_cannot_be_told(self) -> None:
        first, worse, open_ = self.said(best="p" * 30, near="p" * 29 + "f", poor="p" + "f" * 29, none="f" * 30)
        assert first.startswith("best passes 100.0 % [") and first.endswith("no other agent passes more.")
        assert worse == ("poor (p < 0.001) and none (p < 0.001) pass less than best by more than chance would explain.")
        assert open_ == "These 30 templates do not tell near from best."

    def test_one_agent_or_no_score_or_many_names(self) -> None:
        [only] = self.said(alone="ppff")
        assert only.endswith("of the tasks, each template counting once.")
        assert self.said(late="mm") == ["No agent has a score yet."]
        said = self.said(best="p" * 30, **{f"a{number}": "f" * 30 for number in range(9)})
        assert said[1].startswith("a0 (p < 0.001), a1 ") and "a5 (p < 0.001) and 3 others pass less" in said[1]


class TestPage:
    def test_loads_nothing_runs_nothing_and_names_are_text(self) -> None:
        page = to_html(sample())
        assert not re.search(r"(?i)<script|\bsrc=|\bhref=(?!\"#)|@import|url\(\s*['\"]?(https?:|//)|https?://", page)
        assert "default-src 'none'" in page
        page = to_html(sample())
        assert "<b>intern</b>" not in page
        assert "&lt;b&gt;intern&lt;/b&gt;|=1+1" in page

    def test_has_a_picture_of_each_kind(self) -> None:
        assert {"heatmap", "frontier", "exploration", "by site", "by difficulty"} <= plots.draw(sample()).keys()
        assert to_html(sample()).count("<svg") >= 7
        ids = re.findall(r'\bid="([^"]+)"', to_html(sample()))
        assert len(ids) == len(set(ids))

    def test_comes_out_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(plots, "available", lambda: False)
        page = to_html(sample())
        assert page.count('<svg class="forest"') == page.count("<svg") == 2
        assert "webassay[plots]" in page

    def test_of_one_agent_and_of_none(self) -> None:
        one = to_html(summarize([ResultRow(agent="solo", task_id="t", status="pass", template="T")]))
        assert "100.0 %" in one and "Paired differences" not in one
        assert "planned" in to_html(summarize([]))


def test_a_table_without_rows_has_its_headings():
    assert [column.header for column in text.rich_table(None, ("agent", "passed"), []).columns] == ["agent", "passed"]


# --- pictures of intervals: names have the room that they need, up to half of the picture ---------------------


def drawn(name):
    whole = Interval(value=0.5, low=0.2, high=0.8, units=6, method="m")
    return forest([Bar(name, whole, "50 %"), Bar("other", whole, "50 %")], low=0, high=1, step=0.2)


@pytest.mark.parametrize("name", ["oracle", "flawed[skill=0.6,errors=answer]", "x" * 50])
def test_a_name_is_not_cut(name):
    assert f">{name}</text>" in drawn(name)


def test_a_name_without_end_is_cut_and_leaves_room_for_the_interval():
    picture = drawn("x" * 300)
    assert re.search(r">x{40,60}…</text>", picture)
    ends = [float(x) for x in re.findall(r'class="whisker" x1="([\d.]+)"', picture)]
    assert 400 <= min(ends) < max(ends) <= 690


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for file, rendered in RENDERED.items():
        (GOLDEN / file).write_text(rendered(sample()), encoding="utf-8")
