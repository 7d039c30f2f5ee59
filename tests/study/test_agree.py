"""`webassay agree`: what people and judges said, from tables and run directories, as a user would give them."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from scripts import paper_tables
from tests.workbench.test_graders import A, B, make
from webassay.analysis.results import formats
from webassay.cli import app
from webassay.core.errors import InputError
from webassay.core.rater import read_label
from webassay.study.ratings import Rating, decide
from webassay.workbench import AgreeOptions, LabelColumns, StudyOptions, Workbench

DATA = Path(__file__).parents[3] / "shared" / "data" / "agreement"


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def agree(labels, *predictions, mapped=(), **rest):
    study = {name: rest.pop(name) for name in list(rest) if name not in ("reference", "judges", "passing", "failing")}
    words = {name: rest.pop(name) for name in list(rest) if name in ("passing", "failing")}
    options = AgreeOptions(LabelColumns.read(mapped, **words), study=StudyOptions(**{"draws": 200, **study}), **rest)
    return json.loads(Workbench().agree(labels, predictions, options).json)


def row(found, judge, aspect="outcome", part="judges", **more):
    fitting = [
        one
        for one in found[part]
        if (one["judge"], one["aspect"]) == (judge, aspect) and all(one[k] == v for k, v in more.items())
    ]
    assert len(fitting) == 1, fitting
    return fitting[0]


def counts(one):
    return [one[name] for name in ("true_positives", "false_positives", "false_negatives", "true_negatives")]


LABELS = "id,label,cluster,split\na,1,t1,dev\nb,0,t1,dev\nc,1,t2,test\nd,0,t2,test\ne,1,t3,test\nf,0,t3,test\n"
JUDGE = "id,prediction\na,1\nb,1\nc,0\nd,0\ne,1\nf,0\n"


@pytest.fixture
def files(tmp_path):
    return written(tmp_path / "labels.csv", LABELS), written(tmp_path / "judge.csv", JUDGE)


def test_a_judge_against_labels(files):
    found = agree(*files)
    one = row(found, "judge")
    assert counts(one) == [2, 1, 1, 2] and one["items"] == 6
    assert one["metrics"]["accuracy"]["value"] == pytest.approx(4 / 6)
    assert one["metrics"]["accuracy"]["units"] == found["clusters"] == 3
    groups = {two["group"]: counts(two) for two in found["groups"]}
    assert groups == {"dev": [1, 1, 0, 0], "test": [1, 0, 1, 2]}


def test_json_lines_say_the_same_as_csv(files, tmp_path):
    tables = []
    for path in files:
        rows = list(csv.DictReader(path.read_text().splitlines()))
        tables.append(written(tmp_path / f"{path.stem}.jsonl", "\n".join(map(json.dumps, rows))))
    whole = written(tmp_path / "labels.json", json.dumps(list(csv.DictReader(LABELS.splitlines()))))
    expected = agree(*files)
    assert agree(*tables) == agree(whole, tables[1]) == expected


def test_baselines_are_always_shown(files, tmp_path):
    found = agree(*files)
    assert counts(row(found, "always fail")) == [0, 0, 3, 3]
    assert counts(row(found, "always pass")) == [3, 3, 0, 0]
    assert row(found, "it terminated")["items"] == row(found, "shortest wins")["items"] == 0
    more = "id,label,cluster,terminated,steps\na,1,t1,True,3\nb,0,t1,False,9\nc,1,t2,True,5\nd,0,t3,True,2\n"
    found = agree(written(tmp_path / "more.csv", more), files[1])
    assert counts(row(found, "it terminated")) == [2, 1, 0, 1]
    # a is shorter than b; c and d are alone: the median is 4.
    assert counts(row(found, "shortest wins")) == [1, 1, 1, 1]
    assert [(one["ending"], one["passed"], one["failed"]) for one in found["endings"]] == [
        ("over budget", 0, 1),
        ("terminated", 2, 1),
    ]


def test_what_is_no_verdict_is_counted_and_never_dropped_silently(files, tmp_path):
    judge = written(tmp_path / "j.csv", "id,prediction\na,1\nb,\nc,unsure\nd,partly\nx,1\n")
    found = agree(files[0], judge)
    one = row(found, "j")
    assert (one["items"], one["missing"], one["unsure"], one["third"]) == (1, 3, 1, 1)
    assert "1 predictions have no label" in " ".join(found["notes"])
    assert counts(row(agree(files[0], judge, missing="failure"), "j")) == [1, 0, 2, 3]
    labels = written(tmp_path / "l.csv", "id,label\na,1\nb,partly\nc,unsure\nd,\ne,0\n")
    found = agree(labels, files[1])
    assert found["reference"]["said"] == {"pass": 1, "third": 1, "unsure": 1, "missing": 1, "fail": 1}
    assert found["reference"]["third_labels"] == {"partly": 1} and found["reference"]["undecided"] == 3
    assert row(found, "judge")["items"] == 2
    assert row(agree(labels, files[1], passing=["Partly"]), "judge")["items"] == 3


def test_several_columns_are_several_judges_and_bounds_make_verdicts(tmp_path):
    table = written(
        tmp_path / "t.csv", "agent,task,human,one,two,reward\nx,1,yes,1,0,0.7\nx,2,no,0,,0.2\ny,1,yes,1,1,\n"
    )
    found = agree(table, mapped=["id=agent,task", "label=human", "prediction=one,two,reward>0.5"])
    assert [one["judge"] for one in found["judges"]][:3] == ["one", "two", "reward>0.5"]
    assert counts(row(found, "one")) == [2, 0, 0, 1]
    assert row(found, "two")["missing"] == row(found, "reward>0.5")["missing"] == 1
    assert found["clusters"] == 2  # by task


def test_judges_side_by_side(files, tmp_path):
    other = written(tmp_path / "other.csv", "id,prediction\na,1\nb,0\nc,1\nd,0\ne,1\n")
    (pair,) = agree(*files, other)["pairs"]
    assert (pair["first"], pair["second"], pair["items"]) == ("judge", "other", 5)
    said = [pair[name] for name in ("both_right", "only_first_right", "only_second_right", "both_wrong")]
    assert said == [3, 0, 2, 0]
    assert pair["differences"]["accuracy"]["value"] == pytest.approx(3 / 5 - 1)


def test_the_same_judge_again(files, tmp_path):
    again = written(tmp_path / "again.csv", JUDGE.replace("c,0", "c,1"))
    found = agree(files[0], f"uv={files[1]}", f"uv={again}")
    (one,) = found["repeats"]
    assert (one["judge"], one["runs"], one["unstable"]) == ("uv", 2, pytest.approx(1 / 6))
    assert one["mean"]["accuracy"] == pytest.approx((4 / 6 + 5 / 6) / 2)
    rows = [f"{line},{run}" for run, text in enumerate((JUDGE, again.read_text())) for line in text.split()[1:]]
    column = written(tmp_path / "uv.csv", "id,prediction,run\n" + "\n".join(rows))
    assert agree(files[0], column)["repeats"] == found["repeats"]


def test_people_blind_and_informed(tmp_path):
    text = "id,annotator,label,informed,score,cluster\n" + "".join(
        f"i{n},{who},{blind},{informed},{score},t{n}\n"
        for n, (who, blind, informed, score) in enumerate([("a", 1, 0, 0.9), ("b", 1, 1, 0.9), ("a", 0, 0, 0.1)])
    )
    labels = written(tmp_path / "l.csv", text + "i0,b,1,0,0.5,t0\ni1,a,0,0,0.2,t1\ni2,b,0,1,0.1,t2\n")
    judge = written(tmp_path / "uv.csv", "id,prediction,score\ni0,0,0.3\ni1,1,0.9\ni2,0,0.1\n")
    found = agree(labels, judge)
    (flips,) = found["flips"]
    assert [flips[k] for k in ("labels", "flipped", "to_fail", "to_pass", "towards_judge_fail", "away")] == [
        6,
        3,
        2,
        1,
        2,
        1,
    ]
    assert {one["stage"] for one in found["by_stage"]} == {"blind", "informed"}
    blind = next(one for one in found["ceiling"] if (one["kind"], one["stage"]) == ("outcome", "blind"))
    assert (blind["items"], blind["disagreements"]) == (3, 1) and blind["same"]["value"] == pytest.approx(2 / 3)
    assert found["reference"]["tied"] == 1
    with pytest.raises(InputError, match="No label is by 'carl'"):
        agree(labels, judge, tie_breaker="carl")
    third = written(tmp_path / "third.csv", labels.read_text() + "i1,c,1,,,t1\ni0,c,0,,,t0\n")
    broken = agree(third, judge, tie_breaker="c")["reference"]
    assert (broken["ties_broken"], broken["tied"], broken["passed"]) == (1, 0, 2)
    assert {one["against"]: one["items"] for one in found["scores"]} == {"median": 3, "each annotator": 6}


# --- the truth among several people ---------------------------------------------------------------------


def said(rater, label, score=None, process=None):
    return Rating("x", rater, read_label(label), "", score, process)


@pytest.mark.parametrize(
    ("votes", "tie_breaker", "expected"),
    [
        ([("a", "pass"), ("b", "pass"), ("c", "fail")], "", True),
        ([("a", "pass"), ("b", "fail")], "", None),
        ([("a", "pass"), ("b", "fail"), ("c", "fail")], "c", False),
        ([("a", "pass"), ("b", "pass"), ("c", "fail")], "c", True),
        ([("a", "pass"), ("b", "unsure"), ("c", "fail")], "c", True),
        ([("a", "unsure"), ("b", "partly")], "", None),
        ([("c", "fail")], "c", False),
    ],
)
def test_the_majority_and_a_third_for_ties(votes, tie_breaker, expected):
    truth = decide([said(*vote) for vote in votes], tie_breaker=tie_breaker)
    assert truth.outcome.get("x") is expected
    assert (expected is None) == bool(truth.tied or truth.undecided)


@pytest.mark.parametrize(
    ("scores", "tie_breaker", "expected"),
    [((0.9, 0.9, 0.1), "", 0.9), ((0.9, 0.5), "", 0.7), ((0.9, 0.5, 0.85), "c", 0.85), ((0.9, 0.8, 0.0), "c", 0.85)],
)
def test_the_median_and_a_third_for_ties(scores, tie_breaker, expected):
    truth = decide([said(*pair) for pair in zip("abc", ["pass"] * 3, scores, strict=False)], tie_breaker=tie_breaker)
    assert truth.scores["x"] == pytest.approx(expected)
    assert truth.process["x"] == (expected >= 0.8)


@given(st.lists(st.sampled_from(["pass", "fail", "unsure", "third", "missing"]), min_size=1, max_size=6))
def test_a_truth_is_the_same_in_any_order(votes):
    ratings = [said(str(place), vote) for place, vote in enumerate(votes)]
    assert decide(ratings).outcome == decide(reversed(ratings)).outcome
    passed, failed = votes.count("pass"), votes.count("fail")
    assert decide(ratings).outcome.get("x") == (None if passed == failed else passed > failed)


# --- run directories ------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    run = make(tmp_path / "run", {"clerk": ["ppfp", "pfff"]}, [A, B])
    labels = written(tmp_path / "people.csv", "id,label\nclerk/t0/0,pass\nclerk/t1/0,pass\nclerk/t2/0,fail\n")
    Workbench().label(run, labels, "anna")
    return run


def test_stored_verdicts_and_stored_labels(run, tmp_path):
    found = agree(run)
    assert [one["judge"] for one in found["judges"]][:2] == ["universal openai:a", "universal openai:b"]
    assert counts(row(found, "universal openai:a")) == [2, 0, 0, 1]
    assert counts(row(found, "universal openai:b")) == [1, 0, 1, 1]
    assert found["reference"]["raters"] == ["anna"]
    only = agree(run, judges=["universal openai:b"])
    assert [one["judge"] for one in only["judges"] if not one["baseline"]] == ["universal openai:b"]


def test_labels_in_a_table_and_verdicts_in_a_run(run, tmp_path):
    by_task = written(tmp_path / "by_task.csv", "id,label\nt0,1\nt1,0\nt3,1\n")
    found = agree(by_task, run)
    assert counts(row(found, "universal openai:a")) == [2, 1, 0, 0]
    assert row(found, "it terminated")["items"] == 3  # the run knows how they ended


def test_one_judge_as_the_reference_of_another(run):
    found = agree(run, reference="universal openai:b")
    assert counts(row(found, "universal openai:a")) == [1, 2, 0, 1]
    assert counts(row(found, "human:anna")) == [1, 1, 0, 1]


# --- wrong input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "predictions", "mapped", "expected"),
    [
        ("id,verdict\na,1\n", JUDGE, (), "no column label or prediction.*--map label=COLUMN"),
        ("name,label\na,1\n", JUDGE, (), "no column id.*It has name, label"),
        (LABELS, "id,prediction\nq,1\n", (), "No id of judge has a label: q against a, b, c"),
        (LABELS, "id,prediction\na,1\na,0\n", (), "judge has two predictions for a"),
        ("id,label\na,1\nb,0\na,0\n", JUDGE, (), "line 4: labels already has a label for a, in line 2"),
        ("id,label\na,maybe\n", JUDGE, (), "No label says pass or fail.*'maybe'.*--pass"),
        ("id,label,score\na,1,7\n", JUDGE, (), "line 2: the score '7'"),
        ("id,label,stage\na,1,later\n", JUDGE, (), "no stage 'later'"),
        ("id,label\n", JUDGE, (), "has no rows"),
        ("id,label\n,1\n", JUDGE, (), "line 2, has no id"),
        ("id,label\na,1,9\n", JUDGE, (), "line 2, has more cells"),
        ("id,id\na,1\n", JUDGE, (), "two columns with the same name"),
        (LABELS, JUDGE, ("lable=x",), "no column role 'lable'.*label"),
        (LABELS, JUDGE, ("label",), "'label' is not a mapping"),
        (LABELS, JUDGE, ("split=splitt",), "no column 'splitt'.*Did you mean split"),
    ],
)
def test_a_wrong_call_says_what_to_do(tmp_path, labels, predictions, mapped, expected):
    files = written(tmp_path / "labels.csv", labels), written(tmp_path / "judge.csv", predictions)
    with pytest.raises(InputError) as error:
        agree(*files, mapped=mapped)
    assert re.search(expected, str(error.value)), str(error.value)


def test_tables_that_hold_anything(files, tmp_path):
    rows = [
        '{"id": "a", "prediction": [1], "steps": 1%s}' % ("0" * 400),
        '{"id": "b\\ud800", "prediction": {"x": NaN}}',
    ]
    found = agree(files[0], written(tmp_path / "j.jsonl", "\n".join([*rows, '{"id": "c", "prediction": NaN}'])))
    one = row(found, "j")
    assert (one["items"], one["missing"], one["third"]) == (0, 5, 1)


def test_no_predictions_no_labels_no_file(files, tmp_path, run):
    with pytest.raises(InputError, match="no column prediction"):
        agree(files[0])
    with pytest.raises(InputError, match="does not exist"):
        agree(files[0], tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="neither a table nor a run directory"):
        agree(files[0], tmp_path)
    with pytest.raises(InputError, match="is not JSON"):
        agree(files[0], written(tmp_path / "j.txt", "nonsense"))
    with pytest.raises(InputError, match="no judge 'nobody'"):
        agree(*files, judges=["nobody"])
    with pytest.raises(InputError, match="no dimension 'spilt'"):
        agree(*files, by=[["spilt"]])
    unlabelled = make(tmp_path / "bare", {"clerk": ["pf"]}, [A])
    with pytest.raises(InputError, match="has no labels by people"):
        agree(unlabelled)


# --- what a person sees ---------------------------------------------------------------------------------


def test_the_command(files, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    page = tmp_path / "trust.html"
    done = CliRunner().invoke(app, ["agree", *map(str, files), "--html", str(page)])
    assert done.exit_code == 0, done.output
    for word in ("Agreement on the outcome", "kappa", "always fail (baseline)", "By split", "3 clusters"):
        assert word in done.output
    assert "\\x0a" not in done.output
    assert "<svg" in page.read_text() and "kappa, with 95 % intervals" in page.read_text()
    done = CliRunner().invoke(app, ["agree", *map(str, files), "--csv"])
    rows = list(csv.DictReader(io.StringIO(done.output)))
    found = [one for one in rows if (one["judge"], one["metric"], one["dimension"]) == ("judge", "accuracy", "")]
    assert [one["value"] for one in found] == ["0.666667"]
    assert json.loads(CliRunner().invoke(app, ["agree", *map(str, files), "--json"]).output)["version"] == 1
    assert "| judge | items |" in CliRunner().invoke(app, ["agree", *map(str, files), "--markdown"]).output


def test_names_from_outside_stay_in_their_cells(files, tmp_path):
    judge = written(tmp_path / "j.csv", 'id,prediction,judge\na,1,"<b>x\n\x1b[31m|y"\n')
    made = Workbench().agree(files[0], [judge])
    out = Console(file=io.StringIO(), width=200, force_terminal=False)
    out.print(formats.TABLE.document(made))
    assert "\x1b" not in out.file.getvalue()
    page = str(formats.HTML.document(made))
    assert "<b>x" not in page and "&lt;b&gt;x" in page


# --- published numbers ----------------------------------------------------------------------------------


def test_the_tables_of_the_paper_from_files_with_known_answers():
    wrong = [str(line) for line in paper_tables.lines() if not line.same]
    assert not wrong


@pytest.mark.external
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/agreement is not there")
@pytest.mark.parametrize(
    ("agent", "file", "published"), [("Agent-E", "agente", 86.3), ("Browser_Use", "browser_use", 89.3)]
)
def test_online_mind2web(agent, file, published):
    folder = DATA / "om2w"
    mapped = ["id=task_id", f"label={agent}_human_label", "prediction=final_eval"]
    judged = folder / "webjudge_o4-mini" / f"{file}_results.json"
    found = agree(folder / "human_label.json", judged, mapped=mapped, failing=["2"], missing="failure")
    one = row(found, f"{file}_results")
    assert (one["items"], round(100 * one["metrics"]["accuracy"]["value"], 1)) == (300, published)


@pytest.mark.external
@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/agreement is not there")
def test_agentrewardbench():
    judges = ("webjudge_gpt4o", "webjudge_7B", "webjudge_o4_mini")
    mapped = ["id=benchmark,agent,task_id", "label=human_success", f"prediction={','.join(judges)}"]
    table = DATA / "arb_dev_predictions.csv"
    found = agree(table, mapped=mapped)
    with table.open() as file:
        rows = list(csv.DictReader(file))
    for judge in judges:
        given = [(one[judge], one["human_success"]) for one in rows if one[judge]]
        expected = [given.count(pair) for pair in (("1", "1"), ("1", "0"), ("0", "1"), ("0", "0"))]
        assert counts(row(found, judge)) == expected
        assert row(found, judge)["missing"] == sum(not one[judge] for one in rows)
        assert all(None not in one.values() for one in row(found, judge)["metrics"].values())
    assert (found["items"], found["clusters"]) == (185, len({one["task_id"] for one in rows}))
    assert {one["dimension"] for one in found["groups"]} == {"benchmark", "agent"}
