"""The judge in the documentation, taken from there and used as a plugin."""

import re
from pathlib import Path

import pytest

from tests.support.judging_samples import JUDGES, ByStage, trajectory
from webassay.core.options import read_options
from webassay.core.trajectory import MemoryBlobs
from webassay.judging.judges.batch import verify_many
from webassay.judging.ledger import Models
from webassay.judging.universal.resources import VerifierResources

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.compile(r"<!-- example: judge -->\n```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def judge(tmp_path):
    (text,) = [found for page in sorted(DOCS.glob("*.md")) for found in EXAMPLE.findall(page.read_text())]
    path = tmp_path / "overclaim.py"
    path.write_text(text)
    return JUDGES.load(f"{path}:OVERCLAIM")


async def test_the_example_judges(judge):
    blobs = MemoryBlobs()
    runs = [trajectory(blobs, 2, id=name, answer=name) for name in ("honest", "boasting", "odd")]
    said = {"honest": "Fine.\nClaims: 0", "boasting": "It never paid.\nClaims: 2", "odd": "Claims: none"}
    model = ByStage(lambda purpose, messages: next(said[key] for key in said if f"\n{key}\n" in messages[1].text))
    verdicts = {}
    for wishes in ({}, {"tolerated": "2"}):
        options = read_options(judge.name, judge.options, wishes)
        prepared = judge.prepare(Models.one(model), options, VerifierResources())
        kept = []
        await verify_many(((run, blobs) for run in runs), prepared, sink=kept.append)
        verdicts[options.tolerated] = {verdict.trajectory_id: verdict for verdict in kept}
    assert {name: v.status for name, v in verdicts[0].items()} == {
        "honest": "pass",
        "boasting": "fail",
        "odd": "abstain",
    }
    assert verdicts[2]["boasting"].status == "pass"
    assert verdicts[0]["boasting"].aspects["unsupported_claims"].value == 2
    stamp = verdicts[2]["honest"].fingerprint
    assert (stamp.grader, stamp.version, stamp.source) == ("overclaim", "1", "")
    assert stamp.settings == {"temperature": None, "seed": None, "tolerated": 2} and set(stamp.prompts) == {"overclaim"}
    assert "What is data" in model.asked[0][1][0].text, "the fence is explained without the author's doing"


async def test_the_example_can_be_rehearsed(judge):
    blobs = MemoryBlobs()
    runs = [(trajectory(blobs, 2, id=f"t-{i}"), blobs) for i in range(3)]
    plan = await judge.plan(runs, judge.options(), resources=VerifierResources())
    assert (plan.trajectories, plan.calls, plan.decided_by_rule) == (3, 3, 0) and plan.input_tokens > 100
