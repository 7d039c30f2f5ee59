"""The paper's scenarios: what the pipeline makes of known replies, in every profile."""

import pytest

from tests.support.judging_samples import ByStage, golden, golden_names, replies_of, verified
from webassay.faultbench.detection import said_in
from webassay.faultbench.score import in_our_taxonomy
from webassay.judging.universal.explain import explain
from webassay.judging.universal.profile import PROFILES

TABLE_6 = {
    1: (True, True),
    2: (True, False),
    3: (True, True),
    4: (False, False),
    5: (False, False),
    6: (False, False),
    7: (False, False),
    8: (True, True),
    9: (False, False),
    10: (True, True),
    11: (False, False),
}


async def judged(name, profile="webassay"):
    case = golden(name)
    model = ByStage(replies_of(case))
    chosen = PROFILES[profile]
    if chosen.taxonomy == "released":  # the golden replies use the paper's codes
        chosen = chosen.with_changes(taxonomy="paper")
    verdict = await verified(case, model, chosen)
    return case["expected"], verdict, model


def test_every_row_of_the_table_is_there():
    assert sorted(golden(name)["table6"] for name in golden_names() if golden(name)["table6"]) == sorted(TABLE_6)


@pytest.mark.parametrize("profile", ["webassay", "paper", "released"])
@pytest.mark.parametrize("name", golden_names())
async def test_process_and_outcome(name, profile):
    expected, verdict, _ = await judged(name, profile)
    row = golden(name)["table6"]
    if row:
        assert (expected["process_success"], expected["outcome"]) == TABLE_6[row]
    assert verdict.aspects["process_success"].value is expected["process_success"]
    assert verdict.aspects["outcome"].value is expected["outcome"]
    assert verdict.aspects["process_score"].value == pytest.approx(expected["process_score"], abs=1e-4)
    assert verdict.aspects["hallucination"].value is expected["hallucination"]
    assert verdict.status == ("pass" if expected["outcome"] else "fail")
    codes = [finding.code.split(":")[1] for finding in verdict.findings if finding.check == "diagnosis"]
    assert codes == expected["codes"]
    assert not verdict.replies["degraded"]


async def test_an_error_upstream_costs_nothing_downstream():
    expected, verdict, _ = await judged("14-no-cascade")
    points = [score["points"] for score in verdict.replies["scores"]]
    assert points == expected["points"] == [4, 4, 2, 3]


async def test_a_contradiction_lowers_the_score_that_the_actions_alone_gave():
    _, verdict, _ = await judged("07-hallucination")
    assert verdict.aspects["process_action_only"].value == 1.0
    assert verdict.aspects["process_score"].value == 0.5
    assert verdict.aspects["hallucination"].value is True
    assert verdict.aspects["first_failure_step"].value == 3, "as people count"
    assert said_in(verdict, in_our_taxonomy).step == 2, "as labels count"


async def test_a_side_effect_raises_the_total_and_earns_nothing():
    _, verdict, _ = await judged("06-side-effects")
    (penalty,) = [finding for finding in verdict.findings if finding.check == "side_effect"]
    assert (penalty.expected, penalty.actual, penalty.code) == (3.0, 0.0, "penalty")
    assert verdict.aspects["side_effects"].value == 1.0


@pytest.mark.parametrize("name", ["12-condition-met", "13-condition-not-met"])
async def test_a_criterion_whose_condition_does_not_hold_leaves_both_sums(name):
    expected, verdict, model = await judged(name)
    applies = [score["condition_met"] is not False for score in verdict.replies["scores"]]
    assert applies == expected["applies"]
    left_out = applies.index(False)
    rescored = next(messages for purpose, messages in model.asked if purpose == "rescore")
    assert f"criterion_idx {left_out}:" not in rescored[-1].text
    assert verdict.replies["scores"][left_out]["points"] == 0.0


@pytest.mark.parametrize("name", golden_names())
async def test_the_verdict_cites_steps_and_can_be_read(name):
    _, verdict, _ = await judged(name)
    cited = [finding for finding in verdict.findings if finding.check == "criterion" and finding.steps]
    assert cited
    text = explain(verdict)
    for item in verdict.replies["rubric"]["items"]:
        assert item["criterion"] in text
    assert "Justification (with evidence)" in text and "Primary intent" in text
    assert max(map(len, text.splitlines())) <= 160


async def test_a_crossed_critical_point_is_no_success():
    case = golden("08-critical-point-stop")
    case["replies"]["cp_violation"] = {"reasoning": "It paid.", "cp_violation": True}
    verdict = await verified(case, ByStage(replies_of(case)))
    assert verdict.aspects["outcome"].value is True
    assert verdict.aspects["cp_violation"].value is True
    assert verdict.status == "fail"
    told = explain(verdict)
    assert "Critical point crossed: yes. It paid." in told
    assert told.count("It paid.") == 1 and "What the record says" not in told, "a model's opinion is no fact"


async def test_the_verdict_keeps_every_reply_and_what_it_cost():
    _, verdict, model = await judged("01-solved")
    kept = [text for call in verdict.replies["calls"].values() for text in call["replies"]]
    assert len(kept) == len(model.asked) == verdict.aspects["calls"].value
    assert verdict.cost_usd == pytest.approx(0.001 * len(model.asked))
    assert verdict.fingerprint.settings["name"] == "webassay"
    assert verdict.fingerprint.prompts["rescore"].startswith("sha256:")
    assert verdict.fingerprint.model == "by-stage"
