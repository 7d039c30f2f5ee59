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

from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.output import text
from webassay.analysis.results import plots
from webassay.analysis.results import report_text as render
from webassay.analysis.results.page import to_html
from webassay.analysis.results.report import summarize
from webassay.analysis.results.spreadsheet import to_csv
from webassay.core.report import Interval, Report

GOLDEN = Path(__file__).parents[1] / "golden" / "report"


def sample() -> Report:
    """Three agents with everything that a report can show: faults, gaps, trials, refusals, baselines, bad names."""
    rows = []
    for agent, statuses in {"clerk": "ppppfpxp", "<b>intern</b>|=1+1": "pfpfmfpa", "always yes": "fffffffp"}.items():
        for i, letter in enumerate(statuses):
            status = {"p": "pass", "f": "fail", "a": "abstain", "x": "fault", "m": "missing"}[letter]
            rows.append(
                ResultRow(
                    agent=agent,
                    task_id=f"t{i}",
                    status=status,  # type: ignore[arg-type]
                    benchmark="arena",
                    template=f"T{i // 2}",
                    kind="unachievable" if i == 7 else "retrieve",
                    sites=("shop",) if i % 2 else ("forum",),
                    groups={"difficulty": ("easy" if i < 4 else "hard",)},
                    baseline=agent == "always yes",
                    ending="answered",
                    steps=4 + i,
                    seconds=2.5 * i,
                    cost_usd=0.01 * (i + 1),
                    actions={"click": i, "fill": 1},
                    tools={"calculator": 1},
                    errors=i % 3,
                    findings=(("response.results", "mismatch"),) if letter == "f" else (),
                    answered=True,
                    recovered=i == 1,
                    checkpoint_reach=0.5,
                    fingerprint="rules 0.1.0 0123456789ab",
                    key_hash=f"k{i}",
                )
            )
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
    def test_nothing_is_a_dash(self) -> None:
        nothing = Interval(value=None, units=0, method="t")
        assert [text.with_bounds(nothing), text.bounds(nothing), text.points(nothing), text.money(None)] == ["–"] * 4

    def test_a_value_without_an_interval_stands_alone(self) -> None:
        assert text.with_bounds(Interval(value=0.5, units=1, method="t")) == "50.0 %"

    def test_the_ends_stand_beside_the_value(self) -> None:
        found = Interval(value=0.49, low=0.442, high=0.538, units=190, method="wilson-t")
        assert text.with_bounds(found) == "49.0 % [44.2, 53.8]"


class TestConclusion:
    def said(self, **agents: str) -> list[str]:
        passed = {"p": "pass", "f": "fail", "m": "missing"}
        return render.conclusion(
            summarize(
                ResultRow(agent=agent, task_id=f"t{i}", status=passed[letter], template=f"T{i}")  # type: ignore[arg-type]
                for agent, letters in agents.items()
                for i, letter in enumerate(letters)
            )
        )

    def test_who_is_best_who_is_worse_and_who_cannot_be_told(self) -> None:
        first, worse, open_ = self.said(best="p" * 30, near="p" * 29 + "f", poor="p" + "f" * 29, none="f" * 30)
        assert first.startswith("best passes 100.0 % [") and first.endswith("no other agent passes more.")
        assert worse == ("poor (p < 0.001) and none (p < 0.001) pass less than best by more than chance would explain.")
        assert open_ == "These 30 templates do not tell near from best."

    def test_one_agent_is_compared_with_nobody(self) -> None:
        [only] = self.said(alone="ppff")
        assert only.endswith("of the tasks, each template counting once.")

    def test_without_a_score_nothing_is_concluded(self) -> None:
        assert self.said(late="mm") == ["No agent has a score yet."]

    def test_many_names_are_counted(self) -> None:
        said = self.said(best="p" * 30, **{f"a{number}": "f" * 30 for number in range(9)})
        assert said[1].startswith("a0 (p < 0.001), a1 ") and "a5 (p < 0.001) and 3 others pass less" in said[1]


class TestPage:
    def test_loads_nothing_and_runs_nothing(self) -> None:
        page = to_html(sample())
        assert not re.search(r"(?i)<script|\bsrc=|\bhref=(?!\"#)|@import|url\(\s*['\"]?(https?:|//)|https?://", page)
        assert "default-src 'none'" in page

    def test_names_are_text(self) -> None:
        page = to_html(sample())
        assert "<b>intern</b>" not in page
        assert "&lt;b&gt;intern&lt;/b&gt;|=1+1" in page

    def test_has_a_picture_of_each_kind(self) -> None:
        assert {"heatmap", "frontier", "exploration", "by site", "by difficulty"} <= plots.draw(sample()).keys()
        assert to_html(sample()).count("<svg") >= 7

    def test_pictures_do_not_share_names(self) -> None:
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


if __name__ == "__main__":
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for file, rendered in RENDERED.items():
        (GOLDEN / file).write_text(rendered(sample()), encoding="utf-8")


def test_a_table_without_rows_has_its_headings():
    assert [column.header for column in text.rich_table(None, ("agent", "passed"), []).columns] == ["agent", "passed"]
