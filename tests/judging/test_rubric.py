"""Rubrics: read, reviewed, frozen; and the one complete outside example, stage by stage."""

import json

import pytest

from tests.support.judging_samples import OUTSIDE, ByStage, asked_about, frames_in, goal, golden, replies_of
from webassay.core.errors import InputError
from webassay.core.trajectory import MemoryBlobs
from webassay.importers.base import import_all
from webassay.importers.fara import FARA
from webassay.judging.ledger import Models
from webassay.judging.universal.explain import explain_review
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.resources import VerifierResources
from webassay.judging.universal.rubric import Criterion, CriticalPoint, FrozenRubric, Rubric, freeze, lint, thaw
from webassay.judging.universal.selection import group
from webassay.judging.universal.verify import review_task, verify


def rubric(*items):
    return Rubric(items=tuple(Criterion(**{"max_points": 3, "description": CREDIT, **item}) for item in items))


CREDIT = "Full points when done; full points too for an honest report that it is not available."


def codes(made, task):
    return {(found.code, found.items) for found in lint(made, task)}


def test_a_sound_rubric_has_nothing_to_review():
    made = rubric({"criterion": "Find a live music event in Nashville"}, {"criterion": "Search its artists on Spotify"})
    assert codes(made, "Find a live music event in Nashville, then search its artists on Spotify.") == set()


def test_phantom_criteria_are_pointed_out():
    """The paper's Table 4: prices and links that nobody asked for."""
    made = rubric(
        {"criterion": "Event details"},
        {"criterion": "Ticket price"},
        {"criterion": "Direct link to the event"},
        {"criterion": "Agent action log"},
    )
    found = codes(
        made, "On Eventbrite, find a live music event in Nashville this Saturday. Then find songs on Spotify."
    )
    assert {("phantom", (1,)), ("phantom", (2,)), ("phantom", (3,))} <= found
    assert ("phantom", (1,)) not in codes(made, "Find the cheapest event.")


def test_overlap_dependence_conditions_and_credit_are_pointed_out():
    made = rubric(
        {"criterion": "Report the price of the blue kettle", "description": "All or nothing."},
        {"criterion": "Report the price of the blue kettle shown"},
        {"criterion": "Compare", "description": f"Only when criterion 1 was met. {CREDIT}"},
        {"criterion": "Say so", "condition": "maybe"},
    )
    found = codes(made, "Report the price of the blue kettle, or the red one if there is none. Compare. Say so.")
    assert {
        ("overlap", (0, 1)),
        ("dependence", (2,)),
        ("credit", (0,)),
        ("loose_condition", (3,)),
    } <= found
    plain = rubric({"criterion": "Buy blueberries"})
    assert ("missing_condition", ()) in codes(plain, "Buy organic blueberries, or if unavailable, others.")


def test_a_frozen_rubric_is_bound_to_its_task_and_its_words():
    made = rubric({"criterion": "Find it"})
    text = freeze(made, goal("Find it."), "t-1", "a reviewer")
    frozen = thaw(text, "file")
    assert frozen.rubric == made
    frozen.check(goal("Find it."))
    with pytest.raises(InputError, match=r"'t-1' \('Find it\.'\), not for 'Find something else\.'"):
        frozen.check(goal("Find something else."))
    with pytest.raises(InputError, match="changed after"):
        thaw(text.replace('Find it"', 'Find that"'), "file")
    with pytest.raises(InputError, match="not a frozen rubric"):
        thaw("{}", "file")


def test_a_foreign_rubric_loses_its_scores_and_penalties_and_its_nesting():
    made = Rubric.from_foreign(
        {
            "items": [
                {"criterion": "a", "description": "d", "max_points": 2, "earned_points": 1, "justification": "x"},
                {"criterion": "outer", "items": [{"criterion": "b", "description": "d", "max_points": 3}]},
                {"criterion": "p", "description": "d", "max_points": 2, "penalty": True},
            ]
        }
    )
    assert [item.criterion for item in made.items] == ["a", "b"] and made.total == 5
    with pytest.raises(InputError):
        Rubric.from_foreign({"items": [{"criterion": "a", "description": "d", "max_points": 0}]})


def test_critical_points_come_in_nine_types():
    kinds = {
        CriticalPoint(
            present=True,
            permission=permission,
            missing_information=("card",) if missing else (),
            underspecified=("size",) if unclear else (),
        ).type
        for permission in (True, False)
        for missing in (True, False)
        for unclear in (True, False)
    }
    assert len(kinds | {CriticalPoint(present=False).type}) == 9
    assert "PERMISSION_GRANTED_MISSING_INFO_TASK_SPECIFIED" in kinds


async def test_a_task_can_be_reviewed_before_anybody_has_tried_it():
    case = golden("10-asked")
    case["replies"]["rubric"]["items"][0]["criterion"] = "Give the direct link"
    model = ByStage(replies_of(case))
    review = await review_task(goal(case["task"]), Models.one(model))
    assert set(model.stages()) == {"rubric", "dependency", "validity"}
    assert all("action history" not in messages[-1].text for _, messages in model.asked)
    text = explain_review(review)
    assert "! phantom: asks for a link" in text and "The task is ambiguous" in text
    assert "PERMISSION_GRANTED_MISSING_INFO_TASK_UNDERSPECIFIED" in text


# --- the outside example --------------------------------------------------------------------------------

EXAMPLE = OUTSIDE / "fara-example"


def recorded():
    kept = json.loads((EXAMPLE / "scores" / "mmrubric_0.8-5-3.json").read_text())
    return json.loads(kept["gpt_response_text"])


@pytest.mark.external
@pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the outside example is not here")
async def test_the_released_verifier_s_own_intermediates_lead_to_its_own_verdict():
    theirs = recorded()
    steps = theirs["rubric_intermediate_mm_rubric_steps"]
    scores = steps["step2_relevance_scores"]
    items = theirs["rubric_items"]
    relevance = {
        int(name.split("_")[1]) + 1: (row["0"], row["1"]) for name, row in scores.items()
    }  # fmt: skip
    evidence = {
        (item["screenshot_idx"] + 1, int(index)): item
        for index, group_ in steps["step4_evidence_by_criterion"].items()
        for item in group_
    }
    for prune in ("paper", "released"):
        groups = group(relevance, 2, top_k=5, prune=prune)
        assert {(number, index) for index, numbers in enumerate(groups) for number in numbers} == set(evidence)

    def answer(purpose, messages):
        stage = purpose.split("#")[0]
        if stage == "action_only":
            keys = ("criterion", "justification", "earned_points")
            return {"items": [{"criterion_idx": i, **{key: item[key] for key in keys}} for i, item in enumerate(items)]}
        if stage == "relevance":
            return {"screenshots": [{"screenshot": n, "scores": list(relevance[n])} for n in frames_in(messages)]}
        if stage == "evidence":
            ((number, asked),) = asked_about(messages).items()
            analyses = [{"criterion_idx": i, **evidence[number, i]} for i in asked]
            return {"screenshots": [{"screenshot": number, "analyses": analyses}]}
        if stage == "reality":
            notes = steps["step5_reality_check"]
            return {"reality_checks": [{"criterion_idx": i, "reality_notes": notes[str(i)]} for i in range(2)]}
        if stage == "rescore":
            return {"items": [{"criterion_idx": i, **item} for i, item in enumerate(steps["step6_rescoring_summary"])]}
        if stage == "side_effects":
            return {"reasoning": steps["step7_reasoning"], "requires_penalty": False, "penalty_criteria": []}
        if stage == "outcome":
            return steps["step8_outcome_verification"]
        return {"reasoning": "", "has_failure": False, "failure_points": []}

    blobs = MemoryBlobs()
    (run,) = import_all(EXAMPLE, blobs, [FARA])
    model = ByStage(answer)
    resources = VerifierResources(rubric=FrozenRubric.of(Rubric.from_foreign({"items": items}), run.goal))
    profile = PROFILES["released"].with_changes(critical_points=False, validity=False)
    verdict = await verify(run.goal, run, blobs, Models.one(model), profile, resources)
    assert verdict.status == "pass" and theirs["is_success"] == 1
    earned, most = theirs["rubric_total_earned_points"], theirs["rubric_total_max_points"]
    assert verdict.aspects["process_score"].value == earned / most
    assert verdict.aspects["outcome"].value is theirs["outcome_success"]
    assert model.stages().count("relevance") == 4 and model.stages().count("evidence") == 3
    assert not verdict.replies["degraded"] and len(verdict.replies["calls"]) == len(model.asked)
    merged = await verify(
        run.goal, run, blobs, Models.one(ByStage(answer)), profile.with_changes(merge_frames=True), resources
    )
    assert merged.status == "pass" and len(merged.replies["relevance"]) == 3, "the last two pictures are the same"
