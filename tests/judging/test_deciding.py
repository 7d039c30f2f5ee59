"""What decides: points, votes, codes of errors, facts of the record, and rules that need no model."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.judging_samples import ByStage, golden, golden_trajectory, replies_of, trajectory, verified
from webassay.core.errors import Fault, InputError
from webassay.core.interaction import Action
from webassay.core.protocols import ARENA_PROTOCOL, READ_WHOLE, reading
from webassay.core.trajectory import Ending, MemoryBlobs
from webassay.core.verdict import Finding
from webassay.judging.ledger import Models
from webassay.judging.taxonomy import TAXONOMIES
from webassay.judging.universal.diagnosis import own_actions, read_steps, tool_errors
from webassay.judging.universal.outcome import majority
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.rescoring import median_vote
from webassay.judging.universal.rubric import Criterion
from webassay.judging.universal.scoring import CriterionScore, action_only_score, process_score, succeeded
from webassay.judging.universal.verify import verify
from webassay.play.recording import read_decision

# --- arithmetic and votes -------------------------------------------------------------------------------

POINTS = st.integers(1, 20).flatmap(
    lambda most: st.tuples(st.just(most), st.integers(0, 2 * most).map(lambda half: half / 2))
)


def scored(most, points, *, met=None, penalty=False, action_only=None):
    condition = "" if met is None else "only if it rains in the town"
    return CriterionScore(
        criterion=Criterion(criterion="c", description="d", max_points=most, condition=condition),
        action_only=points if action_only is None else action_only,
        justification="j",
        condition_met=met,
        points=points,
        penalty=penalty,
    )


SCORES = st.lists(
    st.tuples(POINTS, st.sampled_from([None, True, False])).map(lambda x: scored(*x[0], met=x[1])), max_size=8
)


@given(SCORES, st.integers(1, 5))
def test_a_score_is_a_share_and_a_penalty_never_raises_it(scores, most):
    score = process_score(scores)
    counting = [item for item in scores if item.condition_met is not False]
    punished = process_score([*scores, scored(most, 0.0, penalty=True)])
    assert (score is None) == (punished is None) == (not counting), "a share of nothing is no share"
    assert score is None or 0.0 <= punished <= score <= 1.0
    assert process_score([item for item in scores if item.condition_met is not False]) == score


@given(SCORES)
def test_a_criterion_that_does_not_apply_changes_nothing(scores):
    assert process_score([*scores, scored(9, 9, met=False)]) == process_score(scores)


def test_the_threshold_is_inclusive_and_sums_of_decimals_do_not_miss_it():
    assert succeeded(process_score([scored(10, 8)]))
    assert succeeded(sum([0.1] * 8))
    assert not succeeded(0.799)


def test_the_score_by_actions_alone_knows_no_penalties():
    assert action_only_score([scored(4, 1, action_only=4), scored(4, 0, penalty=True)]) == 1.0


@given(st.lists(SCORES, min_size=1, max_size=9).filter(lambda votes: len(votes) % 2 == 1))
def test_the_median_vote_has_as_many_above_as_below(instances):
    chosen = process_score(instances[median_vote(instances)])
    values = sorted(score for instance in instances if (score := process_score(instance)) is not None)
    assert chosen == (values[(len(values) - 1) // 2] if values else None)


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=9))
def test_a_majority_needs_a_quorum_and_more_than_half(votes):
    cast = [vote for vote in votes if vote is not None]
    decided = majority(votes)
    if len(cast) * 2 <= len(votes):
        assert decided is None
    else:
        assert decided is (cast.count(True) * 2 > len(cast))


def test_only_odd_numbers_of_votes():
    with pytest.raises(InputError):
        PROFILES["paper"].with_changes(votes=2)


# --- votes ----------------------------------------------------------------------------------------------


async def test_votes_take_the_median_score_and_the_majority_outcome():
    case = golden("01-solved")
    plain = replies_of(case)
    points = {"0": 2.0, "1": 6.0, "2": 5.0}
    success = {"0": True, "1": False, "2": False}

    def answer(purpose, messages):
        value = json.loads(json.dumps(plain(purpose, messages)))
        stage, _, vote = purpose.partition("#")
        if stage == "rescore":
            value["items"][1]["post_image_earned_points"] = points[vote]
        if stage == "outcome":
            value["output_success"] = success[vote]
            value["critical_issues"] = [] if success[vote] else ["not what was asked"]
        return value

    profile = PROFILES["webassay"].with_changes(votes=3, closer_look=False)
    verdict = await verified(case, ByStage(answer), profile)
    assert verdict.aspects["process_score"].value == 0.9
    assert verdict.replies["instances"]["median"] == 2
    assert verdict.aspects["outcome"].value is False and verdict.aspects["votes"].value == "1/3"
    assert verdict.status == "fail"


# --- facts and votes ------------------------------------------------------------------------------------


async def test_a_certain_fact_outranks_every_vote(monkeypatch):
    case = golden("01-solved")
    lie = Finding(check="facts", status="fail", message="'99.99' stood on no page.", code="unseen_value")
    doubt = Finding(check="facts", status="abstain", message="perhaps not", code="unseen_value")
    model = ByStage(replies_of(case))
    monkeypatch.setattr("webassay.judging.universal.verify.record_findings", lambda *_: (doubt,))
    verdict = await verified(case, model)
    assert verdict.status == "pass" and doubt in verdict.findings
    monkeypatch.setattr("webassay.judging.universal.verify.record_findings", lambda *_: (lie,))
    verdict = await verified(case, model)
    assert verdict.status == "fail" and verdict.aspects["outcome"].value is False
    assert any(finding.code == "overruled" for finding in verdict.findings)
    told = next(messages for purpose, messages in model.asked[-12:] if purpose == "rescore")
    assert "stood on no page" in told[-1].text


@pytest.mark.parametrize(
    ("page", "answer", "status"),
    [
        ("12,99 €", 12.99, "pass"),
        ("12,99 €", 13.99, "fail"),
    ],
)
async def test_votes_for_success_stand_unless_the_value_was_on_no_page_however_it_is_written(page, answer, status):
    case, blobs = golden("01-solved"), MemoryBlobs()
    run, read = golden_trajectory(case, blobs), reading(ARENA_PROTOCOL, (READ_WHOLE,))
    tree = blobs.write(f"RootWebArea 'Kettles'\n  StaticText '{page}'".encode(), "text/plain")
    # One action a step: no page can have come and gone unrecorded.
    steps = tuple(
        step.model_copy(
            update={"seen": step.seen.model_copy(update={"tree": tree}), "actions": (Action.of("click", "1"),)}
        )
        for step in run.steps
    )
    run = run.model_copy(
        update={
            "goal": run.goal.model_copy(update={"instruction": "Which one is it?", "protocol": read}),
            "steps": steps,
            "last_seen": run.last_seen.model_copy(update={"tree": tree}),
            "answer": json.dumps({"action": "retrieve", "status": "SUCCESS", "results": [answer]}),
        }
    )
    verdict = await verify(run.goal, run, blobs, Models.one(ByStage(replies_of(case))))
    assert verdict.aspects["votes"].value == "1/1" and verdict.status == status
    assert any(finding.code == "overruled" for finding in verdict.findings) == (status == "fail")


async def test_an_unasked_change_costs_points_whatever_the_model_thought(monkeypatch):
    case = golden("01-solved")
    extra = Finding(check="facts", status="fail", message="a row was added", code="unasked_change")
    monkeypatch.setattr("webassay.judging.universal.verify.record_findings", lambda *_: (extra,))
    verdict = await verified(case, ByStage(replies_of(case)))
    assert verdict.aspects["side_effects"].value == 1.0
    assert verdict.aspects["process_score"].value == pytest.approx(10 / 12)


# --- steps and codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("5", (5,)),
        ("5-7", (5, 6, 7)),
        ("3-7,12", (3, 4, 5, 6, 7, 12)),
        ("Step 4", (4,)),
        ("steps 2 to 3 and 9", (2, 3, 9)),
        ("18-999999", (18, 19, 20)),
        ("7-5", ()),
        ("", ()),
        ("all", ()),
        ("0", ()),
        ("21", ()),
    ],
)
def test_step_numbers(text, steps):
    assert read_steps(text, last=20) == steps


def test_the_taxonomies_have_the_codes_of_their_sources():
    paper = TAXONOMIES["paper"]
    assert len(paper) == 29 and sum("Other" in code.name for code in paper.values()) == 7
    assert set(TAXONOMIES["webassay"]) - set(paper) == {"3.7", "5.5"}, "ours, and the paper's as they are"
    assert TAXONOMIES["released"]["5.1"].category != paper["5.1"].category


@pytest.mark.parametrize("code", sorted(TAXONOMIES["webassay"]))
async def test_every_code_can_be_reached(code):
    case = golden("04-controllable")
    case["replies"]["diagnosis"]["failure_points"][0]["error_code"] = code
    verdict = await verified(case, ByStage(replies_of(case)))
    assert [f.code for f in verdict.findings if f.check == "diagnosis"] == [
        f"webassay:{code}:{TAXONOMIES['webassay'][code].slug}"
    ]


def test_wrong_tools_and_wrong_arguments_are_found_by_program():
    blobs = MemoryBlobs()
    run = trajectory(blobs, 3)
    steps = [step.model_copy(update={"action_text": "", "info": info}) for step, info in zip(
        run.steps,
        (
            {"action": "click", "arguments": {"bid": "1", "thoughts": "x"}},
            {"action": "teleport", "arguments": {}},
            {"action": "click", "arguments": {"colour": "red"}},
        ),
        strict=True,
    )]  # fmt: skip
    run = run.model_copy(update={"steps": tuple(steps)})
    found = tool_errors(run, {"click": frozenset({"bid"})}, "paper")
    assert [(point.code, point.steps) for point in found] == [("7.2", (2,)), ("7.1", (3,))]


def test_calls_that_came_as_text_and_could_not_be_read_are_found_by_program():
    run = trajectory(MemoryBlobs(), 6)
    texts = (
        "click('1')",
        "click()",
        "read_page()",
        "scroll(400)",
        "I am not sure what to do",
        "click('1'\nextract('x')",
    )
    steps = []
    for step, text in zip(run.steps, texts, strict=True):
        decision, written, error = read_decision(text)
        steps.append(step.model_copy(update={"actions": decision.actions, "action_text": written, "error": error}))
    # A program that drives the browser is watched, and writes no calls.
    steps.append(steps[0].model_copy(update={"index": 6, "actions": (), "action_text": "(driven from outside)"}))
    found = tool_errors(run.model_copy(update={"steps": tuple(steps)}), own_actions(), "webassay")
    assert [(point.code, point.steps) for point in found] == [
        ("7.1", (2,)), ("7.2", (3,)), ("7.1", (4,)), ("7.1", (5,)), ("7.1", (6,)),
    ]  # fmt: skip
    assert all(point.by_program and point.what_happened for point in found)


# --- rules that need no model ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "changes", "status", "rule"),
    [
        ("webassay", {"ending": Ending(kind="step_limit")}, "fail", "no_answer"),
        ("released", {"ending": Ending(kind="step_limit")}, "fail", "no_answer"),
        ("webassay", {"steps": ()}, "fail", "no_actions"),
        ("webassay", {"ending": Ending(kind="fault", fault=Fault(boundary="x", message="y"))}, "fault", "aborted"),
        ("paper", {"ending": Ending(kind="fault", fault=Fault(boundary="x", message="y"))}, "fault", "aborted"),
    ],
)
async def test_rules_decide_before_any_model_is_asked(profile, changes, status, rule):
    blobs = MemoryBlobs()
    run = trajectory(blobs, 3).model_copy(update=changes)
    model = ByStage(lambda purpose, messages: "never")
    verdict = await verify(run.goal, run, blobs, Models.one(model), PROFILES[profile])
    assert (verdict.status, verdict.findings[0].code, model.asked) == (status, rule, [])


async def test_missing_screenshots_are_a_failure_only_in_the_released_rules():
    blobs = MemoryBlobs()
    run = trajectory(blobs, 4, pictures=[1])
    verdict = await verify(run.goal, run, blobs, None, PROFILES["released"])
    assert (verdict.status, verdict.findings[0].code) == ("fail", "frames_missing")
    bare = trajectory(blobs, 4, pictures=[])
    verdict = await verify(bare.goal, bare, blobs, None, PROFILES["webassay"])
    assert (verdict.status, verdict.findings[0].code) == ("abstain", "no_evidence")


async def test_without_a_model_it_abstains():
    blobs = MemoryBlobs()
    run = trajectory(blobs, 2)
    verdict = await verify(run.goal, run, blobs, None)
    assert (verdict.status, verdict.findings[0].code) == ("abstain", "no_model")
