"""What people say, as verdicts."""

import pytest

from tests.workbench.test_graders import A, make
from webassay.core.errors import InputError
from webassay.store import Store
from webassay.study.labels import read_labels
from webassay.workbench import Workbench


@pytest.fixture
def run(tmp_path):
    return make(tmp_path / "run", {"clerk": ["pfp"]}, [A])


def written(tmp_path, text, name="labels.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "labels.csv",
            'id,label,score,comment\nclerk/t0/0,success,0.9,\nclerk/t1/0/0,0,,"no, wrong"\nclerk/t2/0,unsure,,\n',
        ),
        (
            "labels.jsonl",
            '{"id": "clerk/t0/0", "label": true, "score": 0.9}\n\n'
            '{"id": "clerk/t1/0/0", "label": 0, "comment": "no, wrong"}\n{"id": "clerk/t2/0", "label": "unsure"}\n',
        ),
    ],
)
def test_labels_become_verdicts(run, tmp_path, name, text):
    bench = Workbench()
    assert bench.label(run, written(tmp_path, text, name), "anna") == 3
    assert bench.graders([run]) == ["human:anna", "universal openai:a"]
    report = bench.report([run], graders=["human:anna", "universal"])
    (agent,) = report.agents
    assert (agent.success.counts.passed, agent.success.counts.failed, agent.success.counts.abstained) == (1, 1, 1)
    assert agent.process.mean.value == 0.9
    assert (report.concords[0].both_pass, report.concords[0].both_fail, report.concords[0].undecided) == (1, 1, 1)
    with Store.open(run) as store:
        (said,) = store.verdict("clerk/t1/0/0", "human:anna").findings
    assert (said.status, said.message) == ("fail", "no, wrong")


def test_labelling_again_is_newer(run, tmp_path):
    for label in ("fail", "pass"):
        Workbench().label(run, written(tmp_path, f"id,label\nclerk/t0/0,{label}\n"), "anna")
    assert Workbench().report([run], graders=["human:anna"]).counts.passed == 1
    with Store.open(run) as store:
        assert [one.status for one in store.verdicts("clerk/t0/0/0")] == ["pass", "fail", "pass"]


def test_an_unknown_id_leaves_everything_as_it_was(run, tmp_path):
    with pytest.raises(InputError, match=r"no trajectory clerk/t9/0\. Nothing was written"):
        Workbench().label(run, written(tmp_path, "id,label\nclerk/t0/0,pass\nclerk/t9/0,pass\n"), "anna")
    assert Workbench().graders([run]) == ["universal openai:a"]


def test_one_trajectory_under_two_names_is_labelled_once(run, tmp_path):
    twice = written(tmp_path, "id,label\nclerk/t0/0,pass\nclerk/t1/0,pass\nclerk/t0/0/0,fail\n")
    with pytest.raises(InputError, match="line 4: clerk/t0/0/0 is the same trajectory as clerk/t0/0 in line 2"):
        Workbench().label(run, twice, "anna")
    assert Workbench().graders([run]) == ["universal openai:a"], "nothing was written"


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_a_line_separator_inside_a_comment_ends_no_line(run, tmp_path, name):
    said = "first\u2028second\x85third"
    texts = {
        "labels.csv": f"id,label,comment\nclerk/t0/0,pass,{said}\nclerk/t1/0,fail,\n",
        "labels.jsonl": f'{{"id": "clerk/t0/0", "label": 1, "comment": "{said}"}}\n{{"id": "clerk/t1/0", "label": 0}}',
    }
    first, second = read_labels(written(tmp_path, texts[name], name))
    assert (first.comment, second.id, second.line) == (said, "clerk/t1/0", 3 if name.endswith("csv") else 2)
    assert Workbench().label(run, tmp_path / name, "anna") == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,label\n", "no labels"),
        ("id,verdict\nx,pass\n", "no column label"),
        ('"id"x,label\nx,pass\n', "line 1: "),
        ('id,label\nx,pass\n"y"z,pass\n', "line 3: "),
        ("id,label\nx,maybe\n", "line 2: 'maybe' is not a label"),
        ("id,label\n,pass\n", "line 2, has no id"),
        ("id,label,score\nx,pass,7\n", "line 2: the score '7'"),
        ("id,label,score\nx,pass,nan\n", "line 2: the score 'nan'"),
        ("id,label\nx,pass\ny,pass\nx,fail\n", "line 4: x already has a label, in line 2"),
    ],
)
def test_a_file_that_cannot_be_meant(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read_labels(written(tmp_path, text))


@pytest.mark.parametrize(("text", "said"), [("nonsense", "line 1, is not JSON"), ("[1]", "line 1, is not an object")])
def test_json_lines_that_are_none(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read_labels(written(tmp_path, text, "labels.jsonl"))


@pytest.mark.parametrize("name", ["", "  ", "a\nb"])
def test_an_annotator_has_a_name(run, tmp_path, name):
    with pytest.raises(InputError, match="name is empty or not printable"):
        Workbench().label(run, written(tmp_path, "id,label\nclerk/t0/0,pass\n"), name)
