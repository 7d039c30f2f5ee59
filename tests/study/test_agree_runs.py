"""`webassay agree` over several run directories, and over one table that holds both labels and predictions."""

import csv
import json
import re
import shutil

import pytest

from tests.study.test_agree import agree, counts, row, written
from tests.support import samples
from tests.workbench.test_graders import STEP, A, B, judged
from webassay.core.errors import InputError
from webassay.core.trajectory import AgentInfo
from webassay.core.unit import UnitOfWork
from webassay.store import Store
from webassay.workbench import Workbench


def played(path, answer, verdicts, agent="clerk", stamps=(A,)):
    """A run in which each task ends with this answer. `verdicts`: one text for each stamp, a letter for each task."""
    with Store.create(path) as store:
        for number, letters in enumerate(zip(*verdicts, strict=True)):
            unit = UnitOfWork(agent=agent, task_id=f"t{number}")
            store.plan([unit])
            trajectory = samples.trajectory(
                id=f"{unit.id}/0", task_id=unit.task_id, agent=AgentInfo(name=agent), steps=(STEP,), answer=answer
            )
            found = [
                judged(stamp, trajectory.id, unit.task_id, one) for stamp, one in zip(stamps, letters, strict=True)
            ]
            store.add_episode(unit.id, trajectory, found)
    return path


def labelled(run, letters, agent="clerk"):
    words = {"p": "pass", "f": "fail"}
    lines = [f"{agent}/t{number}/0,{words[letter]}" for number, letter in enumerate(letters)]
    Workbench().label(run, written(run.parent / f"{run.name}.csv", "\n".join(["id,label", *lines])), "anna")
    return run


@pytest.fixture
def monday(tmp_path):
    return labelled(played(tmp_path / "monday", "7", ["ppf"]), "ppf")


@pytest.fixture
def tuesday(tmp_path):
    """The same agent on the same tasks, so the ids are the same, and what it did is not."""
    return played(tmp_path / "tuesday", "8", ["ffp"])


# --- several runs -------------------------------------------------------------------------------------------------


def test_labels_of_one_run_say_nothing_about_another_run_with_the_same_ids(monday, tuesday):
    said = f"The labels of {monday} say nothing about {tuesday}"
    with pytest.raises(InputError, match=re.escape(said)):
        agree(monday, tuesday)


def test_a_copy_of_a_run_holds_the_same_trajectories(monday):
    copy = shutil.copytree(monday, monday.parent / "copy")
    assert counts(row(agree(monday, copy), "universal openai:a")) == [2, 0, 0, 1]


@pytest.mark.parametrize("name", ["clerk/t0/0/0", "clerk/t0/0", "t0"])
def test_a_table_cannot_name_what_two_runs_have(monday, tuesday, tmp_path, name):
    labels = written(tmp_path / "labels.csv", f"id,label\n{name},pass\n")
    said = f"{name} means different trajectories in {monday} and {tuesday}"
    with pytest.raises(InputError, match=re.escape(said)):
        agree(labels, monday, tuesday)
    assert counts(row(agree(labels, tuesday), "universal openai:a")) == [0, 0, 1, 0]


def test_runs_of_different_agents_are_one_pool(monday, tmp_path):
    other = played(tmp_path / "other", "7", ["pp"], agent="intern")
    labels = written(tmp_path / "labels.csv", "id,label\nclerk/t0/0,pass\nintern/t0/0,fail\nintern/t1/0,pass\n")
    found = agree(labels, monday, other)
    assert counts(row(found, "universal openai:a")) == [2, 1, 0, 0]
    assert (found["items"], found["clusters"]) == (3, 2)


def test_a_name_does_not_make_one_judge_of_several(tmp_path):
    run = labelled(played(tmp_path / "run", "7", ["ppf", "fff"], stamps=(A, B)), "ppf")
    labels = written(tmp_path / "labels.csv", "id,label\nt0,pass\nt1,pass\nt2,fail\n")
    found = agree(labels, f"mine={run}")
    judges = [one["judge"] for one in found["judges"] if not one["baseline"]]
    assert judges == ["mine: universal openai:a", "mine: universal openai:b"]
    assert counts(row(found, "mine: universal openai:a")) == [2, 0, 0, 1]
    assert counts(row(found, "mine: universal openai:b")) == [0, 0, 2, 1]


def test_a_name_is_that_of_the_only_judge(monday, tmp_path):
    labels = written(tmp_path / "labels.csv", "id,label\nt0,pass\nt1,pass\nt2,fail\n")
    assert counts(row(agree(labels, f"mine={monday}"), "mine")) == [2, 0, 0, 1]


# --- one table ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [False, True], ids=["alone", "given twice"])
@pytest.mark.parametrize(("column", "values"), [("score", "0.9 0.2 0.7 0.1"), ("process", "1 0 1 0")])
def test_what_people_say_of_the_process_is_not_said_by_the_judge(tmp_path, column, values, again):
    rows = zip("abcd", "1010", "1100", values.split(), strict=True)
    table = written(tmp_path / "t.csv", "\n".join(map(",".join, [("id", "label", "prediction", column), *rows])))
    found = agree(table, *[table] * again)
    one = row(found, "t", aspect="process")
    assert one["process_from"] == "outcome" and one["metrics"]["kappa"]["value"] < 1
    assert found["scores"] == []


def test_annotators_are_not_judges(tmp_path):
    table = written(tmp_path / "t.csv", "id,label,prediction,annotator\na,1,1,anna\nb,0,1,ben\n")
    found = agree(table)
    assert found["reference"]["raters"] == ["anna", "ben"]
    assert [one["judge"] for one in found["judges"] if not one["baseline"]] == ["t"]
    assert row(agree(f"mine={table}"), "mine")["items"] == 2


def test_a_column_of_judges_names_judges(tmp_path):
    table = written(
        tmp_path / "t.csv",
        "id,label,prediction,judge,annotator\na,1,1,x,anna\nb,0,1,x,anna\na,1,0,y,ben\nb,0,0,y,ben\n",
    )
    found = agree(table)
    assert found["reference"]["raters"] == ["anna", "ben"]
    assert {one["judge"]: one["items"] for one in found["judges"] if not one["baseline"]} == {"x": 2, "y": 2}


@pytest.mark.parametrize(("role", "kind"), [("score", "process score"), ("process", "process")])
def test_one_column_for_two_annotators_is_left_out_and_said(tmp_path, role, kind):
    text = "id,one,two,mine,yours\na,1,1,1,1\nb,0,1,0,1\nc,0,0,0,0\n"
    labels, judge = written(tmp_path / "l.csv", text), written(tmp_path / "j.csv", "id,prediction\na,1\nb,0\nc,0\n")
    found = agree(labels, judge, mapped=["label=one,two", f"{role}=mine"])
    assert {one["aspect"] for one in found["judges"]} == {"outcome"}
    (note,) = [one for one in found["notes"] if "left out" in one]
    assert "mine is left out" in note and f"--map {role}=" in note
    each = agree(labels, judge, mapped=["label=one,two", f"{role}=mine,yours"])
    assert {one["aspect"] for one in each["judges"]} == {"outcome", "process"}
    assert not [one for one in each["notes"] if "left out" in one]
    process = next(one for one in each["ceiling"] if one["kind"] == kind)
    assert process["disagreements"] == 1, "each annotator has a column"


# --- lines --------------------------------------------------------------------------------------------------------

SEPARATED = "first\u2028second\x85third"


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path):
    rows = [{"id": "a", "label": "1", "comment": SEPARATED}, {"id": "b", "label": "0", "comment": ""}]
    table = tmp_path / "l.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "label", "comment"])
        writer.writeheader()
        writer.writerows(rows)
    lines = written(tmp_path / "l.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows))
    judge = written(tmp_path / "j.csv", "id,prediction\na,1\nb,0\n")
    for labels in (table, lines):
        found = agree(labels, judge)
        assert found["items"] == 2 and counts(row(found, "j")) == [1, 0, 0, 1]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_lines_end_as_on_any_system(tmp_path, suffix, end):
    lines = {"csv": ["id,label", "a,1", "b,0"], "jsonl": ['{"id": "a", "label": 1}', '{"id": "b", "label": 0}']}
    labels = tmp_path / f"l.{suffix}"
    labels.write_bytes(end.join(lines[suffix]).encode())
    assert agree(labels, written(tmp_path / "j.csv", "id,prediction\na,1\nb,0\n"))["items"] == 2
