"""What a pipeline gets of a run: an exit code that says whether the agents were good enough, and files to read."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.journeys.test_cli import refused, webassay
from tests.support import samples
from webassay.analysis.output.units import frame_of, rows_to_parquet
from webassay.core.errors import InputError
from webassay.core.trajectory import AgentInfo, Ending
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Finding
from webassay.store import Store
from webassay.workbench import Workbench

WRONG = Finding(check="response.results", status="fail", message="Expected 3, got\n4 & <5>\x1b.")
UNDECIDED = Finding(check="state", status="abstain", message="No rows were recorded.")
VERDICTS = {"p": ("pass", ()), "f": ("fail", (WRONG,)), "a": ("abstain", (UNDECIDED,))}


def make(path: Path, **agents: str) -> Path:
    """A letter a unit: p pass, f fail, a abstain, x fault, m missing."""
    with Store.create(path) as store:
        for agent, letters in agents.items():
            for number, letter in enumerate(letters):
                unit = UnitOfWork(agent=agent, task_id=f"t{number}", metadata={"baseline": agent.startswith("naive")})
                store.plan([unit])
                if letter == "m":
                    continue
                end = Ending(kind="fault", message="The site died.") if letter == "x" else Ending(kind="answered")
                told = {"id": f"{unit.id}/0", "task_id": unit.task_id}
                played = samples.trajectory(**told, agent=AgentInfo(name=agent), ending=end, seconds=1.5)
                found = []
                if letter != "x":
                    status, findings = VERDICTS[letter]
                    found = [
                        samples.verdict(
                            trajectory_id=told["id"], task_id=unit.task_id, status=status, findings=findings
                        )
                    ]
                store.add_episode(unit.id, played, found)
    return path


@pytest.mark.parametrize(
    ("agents", "flags", "code", "said"),
    [
        ({"a": "ppppf", "naive": "fffff"}, (), 0, "The threshold of 80 % holds."),
        ({"a": "pppff"}, (), 4, "! a passes 60.0 % of its tasks, less than 80.0 %."),
        ({"a": "ppppm"}, (), 4, "! Of 5 planned units, 1 missing: at most 0 may have no verdict."),
        ({"a": "ppppx"}, (), 4, "! Of 5 planned units, 1 faulted: at most 0 may have no verdict."),
        ({"a": "pppma"}, ("--max-unscored", "1"), 4, "! Of 5 planned units, 1 missing, 1 abstained: at most 1 may"),
        ({"a": "pppma"}, ("--max-unscored", "2"), 0, "The threshold of 80 % holds."),
        ({"a": "aaa"}, ("--max-unscored", "9"), 4, "! a has no score: no unit of it passed or failed."),
        ({}, (), 4, "! Nothing was planned, so nothing was measured."),
        ({"a": "ppppp", "b": "fffff"}, ("--agent", "a"), 0, "The threshold of 80 % holds."),
        ({"a": "ppppp", "naive": "fffff"}, ("--agent", "naive"), 4, "! naive passes 0.0 %"),
        ({"a": "ppppp"}, ("--agent", "nosuch"), 2, "There is no agent 'nosuch'. Known: a."),
    ],
)
def test_a_threshold(tmp_path: Path, agents: dict[str, str], flags: tuple[str, ...], code: int, said: str) -> None:
    done = webassay("report", str(make(tmp_path / "run", **agents)), "--fail-under", "0.8", *flags)
    assert done.returncode == code, done.stderr
    assert said in " ".join(done.stderr.split())


def test_what_would_do_nothing_is_refused(tmp_path: Path) -> None:
    run = str(make(tmp_path / "run", a="p"))
    refused(webassay("report", run, "--agent", "a"), "--agent needs --fail-under")
    refused(webassay("report", run, "--max-unscored", "0"), "--max-unscored needs --fail-under")
    refused(webassay("report", run, "--units"), "--units cannot be written as table.", "json, csv, parquet")
    refused(webassay("compare", run, "--format", "parquet"), "rows of units, not a report")
    refused(webassay("report", run, "--junit", str(tmp_path / "no" / "x.xml")), "cannot be written")


def test_junit(tmp_path: Path) -> None:
    """Nothing unscored looks as if it had passed, and whatever an agent is called or says, it stays XML."""
    one, two = make(tmp_path / "one", **{'a "<&>\x00': "pfaxm"}), make(tmp_path / "two", b="p", **{'a "<&>\x00': "f"})
    done = webassay("report", str(one), str(two), "--junit", str(tmp_path / "junit.xml"))
    assert done.returncode == 0, done.stderr
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "7", "2", "3")
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ['a "<&>\\x00 (one)', 'a "<&>\\x00 (two)', "b"]
    cases = {case.get("name"): case for case in suites['a "<&>\\x00 (one)']}
    told = {name: [(found.tag, found.get("type"), found.text) for found in case] for name, case in cases.items()}
    assert told == {
        "t0": [],
        "t1": [("failure", "fail", "Its answer is wrong: Expected 3, got\n4 & <5>\\x1b.")],
        "t2": [("error", "abstain", "No rows were recorded.")],
        "t3": [("error", "fault", "The site died.")],
        "t4": [("error", "missing", "It was never played.")],
    }
    assert {case.get("classname") for case in cases.values()} == {'a "<&>\\x00 (one)'}
    assert cases["t1"].get("time") == "1.500"


def test_a_summary_for_github(tmp_path: Path) -> None:
    run = str(make(tmp_path / "run", a="pfx", naive="f"))
    done = webassay("report", run, "--format", "github", "--fail-under", "0.8")
    assert done.returncode == 4
    assert done.stdout.startswith("## run\n\n| agent |")
    assert re.search(r"\| a \| t1 \| fail \| Its answer is wrong: Expected 3, got 4 & \\<5\\>\\\\x1b. \|", done.stdout)
    assert "| a | t2 | fault | The site died. |" in done.stdout
    assert "| naive | t0 |" not in done.stdout, "a baseline should fail"
    assert done.stderr.splitlines() == [
        "::error title=webassay::a passes 50.0 %25 of its tasks, less than 80.0 %25.",
        "::error title=webassay::Of 3 planned units, 1 faulted: at most 0 may have no verdict.",
    ]


def test_a_summary_of_one_agent(tmp_path: Path) -> None:
    run = str(make(tmp_path / "run", a="pf", b="ff", naive="f"))
    for chosen in ({"a"}, {"b"}, {"naive"}, {"a", "naive"}):
        flags = [flag for name in sorted(chosen) for flag in ("--agent", name)]
        done = webassay("report", run, "--format", "github", *flags)
        assert done.returncode == 0 and set(re.findall(r"\| (\w+) \| t\d \| fail", done.stdout)) == chosen
    refused(webassay("report", run, "--format", "github", "--agent", "nosuch"), "There is no agent 'nosuch'.")


def test_units_as_data(tmp_path: Path) -> None:
    """The same rows in every format; in Parquet with the same types, also where a column is empty."""
    run = make(tmp_path / "run", a="pfm")
    rows = Workbench().rows(run)
    assert json.loads(webassay("report", str(run), "--units", "--json").stdout) == rows
    lines = list(csv.DictReader(io.StringIO(webassay("report", str(run), "--units", "--csv").stdout)))
    assert [(one["task_id"], one["status"], one["score"]) for one in lines] == [
        ("t0", "pass", "1.0"), ("t1", "fail", "0.0"), ("t2", "missing", ""),
    ]  # fmt: skip
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    (tmp_path / "units.parquet").write_bytes(rows_to_parquet(rows))
    with duckdb.connect() as db:
        found = db.sql(f"FROM '{tmp_path / 'units.parquet'}'")
        types = dict(zip(found.columns, map(str, found.types), strict=True))
        assert [dict(zip(found.columns, one, strict=True)) for one in found.fetchall()] == rows
    expected = {"cost_usd": "DOUBLE", "steps": "BIGINT", "baseline": "BOOLEAN", "evidence": "BOOLEAN",
                "sites": "VARCHAR", "score": "DOUBLE", "input_tokens": "BIGINT"}  # fmt: skip
    assert expected.items() <= types.items()
    frame = frame_of(rows)
    assert isinstance(frame, pandas.DataFrame) and list(frame.status) == ["pass", "fail", "missing"]


def test_a_frame_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs pandas or polars, which is not installed"):
        frame_of([])
    with pytest.raises(InputError, match="no frames of 'excel'"):
        frame_of([], "excel")
