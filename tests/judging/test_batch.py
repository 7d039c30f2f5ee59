"""Many trajectories: nothing lost, nothing judged twice, nothing spent that was spent before."""

import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest

from tests.support.judging_samples import (
    JUDGES,
    LITERATURE,
    ByStage,
    golden,
    golden_names,
    golden_trajectory,
    prepared,
    replies_of,
)
from webassay.core.errors import BudgetError, InputError, StoreError
from webassay.core.trajectory import BlobRef, MemoryBlobs
from webassay.judging.judges.batch import JudgingLocks, verify_many
from webassay.judging.judges.universal import plan_profile, prepare_profile
from webassay.judging.ledger import Models
from webassay.judging.plan import describe_estimate
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.resources import VerifierResources
from webassay.judging.universal.rubric import Criterion, FrozenRubric, Rubric, RubricCache
from webassay.llm.client import Budget, budgeted, cached


def cases():
    """Every golden case, each with a task text of its own, and the model that knows them all."""
    blobs, items, answers = MemoryBlobs(), [], {}
    for name in golden_names():
        case = golden(name)
        if case["task"] in answers:
            case["task"] += " Now."
        answers[case["task"]] = replies_of(case)
        items.append((golden_trajectory(case, blobs).model_copy(update={"id": name, "task_id": name}), blobs))

    def answer(purpose, messages):
        text = next(message.text for message in messages if message.role == "user")
        task = text.split("task]]\n", 1)[1].split("\n[[END", 1)[0]
        return answers[task](purpose, messages)

    return items, answer


def with_trees(run, blobs):
    def seen(page):
        return page.model_copy(update={"tree": blobs.write(f"RootWebArea {page.url}".encode(), "text/plain")})

    steps = tuple(step.model_copy(update={"seen": seen(step.seen)}) for step in run.steps)
    return run.model_copy(update={"steps": steps, "last_seen": run.last_seen and seen(run.last_seen)})


class Kept:
    def __init__(self):
        self.verdicts = []

    def add(self, verdict):
        self.verdicts.append(verdict)

    def has(self, trajectory_id, fingerprint):
        return any(v.trajectory_id == trajectory_id and v.fingerprint == fingerprint for v in self.verdicts)


async def test_a_batch_gives_what_one_by_one_gives():
    items, answer = cases()
    kept, model = Kept(), ByStage(answer)
    tally = await verify_many(items, prepared("universal", model), sink=kept.add, at_once=4)
    assert (tally.judged, tally.skipped, tally.faulted) == (len(items), 0, 0)
    for verdict in kept.verdicts:
        expected = golden(verdict.trajectory_id)["expected"]
        assert verdict.aspects["outcome"].value is expected["outcome"]
        assert verdict.aspects["process_score"].value == pytest.approx(expected["process_score"], abs=1e-4)


async def test_cut_off_and_continued_nothing_is_judged_or_paid_twice(tmp_path):
    items, answer = cases()
    kept, model = Kept(), ByStage(answer)

    def judge():
        return prepared("universal", cached(model, tmp_path), resources=VerifierResources(limit=asyncio.Semaphore(3)))

    for stop_after in (1, 4, 9):

        def sink(verdict, stop_after=stop_after):
            kept.add(verdict)
            if len(kept.verdicts) >= stop_after:
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await verify_many(items, judge(), sink=sink, stored=kept.has, at_once=3)
    tally = await verify_many(items, judge(), sink=kept.add, stored=kept.has, at_once=3)
    ids = Counter(verdict.trajectory_id for verdict in kept.verdicts)
    assert set(ids) == {run.id for run, _ in items} and set(ids.values()) == {1}
    assert tally.judged + tally.skipped == len(items)
    questions = Counter((purpose, messages[-1].text) for purpose, messages in model.asked)
    assert max(questions.values()) == 1, "a call that was paid for came back from the cache"


async def test_one_bad_trajectory_stops_nothing():
    items, answer = cases()
    gone = BlobRef(hash="sha256:" + "0" * 64, media_type="image/png", size=3)
    run, blobs = items[0]
    seen = run.steps[0].seen.model_copy(update={"screenshot": gone})
    items[0] = (
        run.model_copy(update={"steps": (run.steps[0].model_copy(update={"seen": seen}), *run.steps[1:])}),
        blobs,
    )
    kept = Kept()
    tally = await verify_many(items, prepared("universal", ByStage(answer)), sink=kept.add)
    assert (tally.judged, tally.faulted) == (len(items), 1)
    (bad,) = [verdict for verdict in kept.verdicts if verdict.status == "fault"]
    assert bad.trajectory_id == run.id and "not here" in bad.fault.message


async def test_an_error_of_ours_in_a_judge_is_a_fault_of_that_trajectory_only():
    items, answer = cases()

    def sometimes(purpose, messages):
        if "kettles" in messages[-1].text and purpose == "reality":
            raise KeyError("a mistake of ours")
        return answer(purpose, messages)

    kept = Kept()
    await verify_many(items, prepared("universal", ByStage(sometimes)), sink=kept.add)
    faults = [verdict for verdict in kept.verdicts if verdict.status == "fault"]
    assert [verdict.trajectory_id for verdict in faults] == ["05-wrong-answer"]
    assert "a mistake of ours" in faults[0].fault.message and len(kept.verdicts) == len(items)


async def test_a_spent_budget_ends_the_batch_and_keeps_what_is_finished():
    items, answer = cases()
    kept, budget = Kept(), Budget(calls=60)
    model = budgeted(ByStage(answer), budget)
    tally = await verify_many(items, prepared("universal", model), sink=kept.add, at_once=2)
    assert "60 calls" in tally.stopped and 0 < len(kept.verdicts) < len(items)
    assert all(verdict.status in ("pass", "fail") for verdict in kept.verdicts)


async def test_a_store_that_fails_ends_the_batch():
    items, answer = cases()

    def full(verdict):
        raise StoreError("The disk is full.")

    with pytest.raises(StoreError):
        await verify_many(items, prepared("universal", ByStage(answer)), sink=full)


async def test_the_same_trajectory_given_twice_is_judged_once():
    items, answer = cases()
    kept = Kept()
    tally = await verify_many([*items, *items], prepared("universal", ByStage(answer)), sink=kept.add)
    assert (tally.judged, tally.skipped) == (len(items), len(items))


async def test_trajectories_are_taken_only_as_there_is_room_for_them():
    items, answer = cases()
    under_way, most, done = 0, 0, 0

    def watched():
        nonlocal under_way, most
        for item in items:
            under_way += 1
            most = max(most, under_way)
            yield item

    def sink(verdict):
        nonlocal under_way, done
        under_way -= 1
        done += 1

    await verify_many(watched(), prepared("universal", ByStage(answer)), sink=sink, at_once=2)
    assert done == len(items) and most <= 3


async def test_no_more_calls_at_once_than_the_limit():
    items, answer = cases()
    now, most = 0, 0

    class Slow(ByStage):
        async def ask(self, *args, **named):
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            reply = await super().ask(*args, **named)
            now -= 1
            return reply

    judge = prepared("universal", Slow(answer), resources=VerifierResources(limit=asyncio.Semaphore(5)))
    await verify_many(items, judge, sink=lambda verdict: None, at_once=8)
    assert most == 5


@pytest.mark.parametrize("profile", ["paper", "released", "webassay"])
async def test_the_calls_that_are_made_lie_between_the_bounds_of_the_plan(profile):
    items, answer = cases()
    chosen = PROFILES[profile].with_changes(taxonomy="paper")
    for run, blobs in items:
        count = len(golden(run.id)["replies"]["rubric"]["items"])
        made = await plan_profile([(run, blobs)], chosen, VerifierResources(), criteria=count)
        model = ByStage(answer)
        await verify_many(
            [(run, blobs)], prepare_profile(Models.one(model), chosen, VerifierResources()), sink=Kept().add
        )
        assert made.calls <= len(model.asked) <= made.calls_at_most
        assert made.calls_at_most - made.calls <= 12, "the bounds are worth stating"
        assert made.input_tokens > 1000 and made.output_tokens > 100
    told = await plan_profile(items, chosen, VerifierResources(), stored=lambda id: id.startswith("0"))
    assert "14 trajectories: 9 judged already" in describe_estimate(told)


async def test_the_plan_knows_what_rules_decide_and_what_is_judged_already():
    items, _ = cases()
    empty = items[0][0].model_copy(update={"steps": (), "id": "empty"})
    made = await plan_profile(
        [*items, (empty, items[0][1])], PROFILES["webassay"], VerifierResources(), stored=lambda id: id == "01-solved"
    )
    assert (made.trajectories, made.decided_by_rule, made.already_judged) == (15, 1, 1)
    assert made.rubrics == 13


async def test_a_rubric_that_is_kept_is_not_to_be_written(tmp_path):
    items, answer = cases()
    model = ByStage(answer)
    resources = VerifierResources(rubrics=RubricCache(tmp_path), rubric_model=model.name)
    before = await plan_profile(items, PROFILES["webassay"], resources)
    await verify_many(items, prepare_profile(Models.one(model), PROFILES["webassay"], resources), sink=Kept().add)
    after = await plan_profile(items, PROFILES["webassay"], resources)
    assert (before.rubrics, after.rubrics) == (14, 0) and after.calls < before.calls


async def test_the_plan_knows_what_each_model_has_been_asked_already():
    items, answer = cases()
    writer, judging = ByStage(answer, "writer"), ByStage(answer, "judging")
    resources = VerifierResources(rubric_model="writer", outcome_model="judging")
    models = Models.one(judging, rubric=writer)
    await verify_many(items, prepare_profile(models, PROFILES["webassay"], resources), sink=Kept().add)
    judging.asked.clear()
    plan = await plan_profile(items, PROFILES["webassay"], resources)
    await verify_many(items, prepare_profile(models, PROFILES["webassay"], resources), sink=Kept().add)
    assert plan.rubrics == 0 and plan.calls <= len(judging.asked) <= plan.calls_at_most
    unknown = await plan_profile(items, PROFILES["webassay"], replace(resources, outcome_model="another"))
    assert unknown.calls > plan.calls, "another model has to be asked about the tasks"


@pytest.mark.parametrize("name", LITERATURE)
async def test_the_plan_of_a_judge_of_the_literature_counts_its_calls(name):
    items = [(with_trees(run, blobs), blobs) for run, blobs in cases()[0]]
    judge = JUDGES.get(name)
    made = await judge.plan(items, judge.options(), resources=VerifierResources())
    answers = "Key Points:\n1. a\n2. b\n3. c\n4. d\nScore: 5\nReward: 1\n<success>Yes</success>\nStatus: success"
    model = ByStage(lambda purpose, messages: answers)
    await verify_many(items, prepared(name, model), sink=Kept().add)
    assert made.calls == len(model.asked) >= len(items) - made.decided_by_rule > 0
    assert made.input_tokens > 1000
    known = await judge.plan(items, judge.options(), stored=lambda id: True, resources=VerifierResources())
    assert known.calls == 0 and known.already_judged == len(items)


async def test_a_judge_asks_with_the_settings_that_its_verdict_names():
    items, _ = cases()
    seen = []

    class Listening(ByStage):
        async def ask(self, messages, *, settings, **others):
            seen.append(settings)
            return await super().ask(messages, settings=settings, **others)

    for options in (None, JUDGES.get("agenttrek").as_published):
        judge = prepared("agenttrek", Listening(lambda p, m: "Status: success"), options)
        kept = Kept()
        await verify_many(items[:1], judge, sink=kept.add)
        stated = kept.verdicts[0].fingerprint.settings
        assert (stated["temperature"], stated["seed"]) == (seen[-1].temperature, seen[-1].seed)
    assert [one.temperature for one in seen] == [None, 0.0]


def test_unknown_names_and_missing_models_are_told():
    with pytest.raises(InputError, match="Did you mean webjudge"):
        prepared("webjugde", None)
    with pytest.raises(InputError, match="needs a model"):
        prepared("webjudge", None)
    with pytest.raises(InputError, match="slot"):
        Models.one(ByStage(lambda p, m: ""), judge=None)


async def test_a_judge_of_the_literature_runs_in_a_batch_too():
    items, _ = cases()
    kept = Kept()
    model = ByStage(lambda purpose, messages: "Thoughts: fine.\nStatus: success")
    tally = await verify_many(items, prepared("agenttrek", model), sink=kept.add)
    assert tally.judged == len(items) == len(model.asked)
    assert {verdict.fingerprint.grader for verdict in kept.verdicts} == {"agenttrek"}
    assert all(json.loads(verdict.to_json()) for verdict in kept.verdicts)


async def test_budget_errors_pass_through_a_single_verification():
    items, answer = cases()
    with pytest.raises(BudgetError):
        judge = prepared("universal", budgeted(ByStage(answer), Budget(calls=3)))
        await judge.judge(items[0][0].goal, items[0][0], items[0][1])


# --- several batches, cancellation, frozen rubrics ------------------------------------------------------


async def test_two_batches_over_one_store_judge_nothing_twice():
    items, answer = cases()
    kept, claims = Kept(), JudgingLocks()

    def batch(model):
        judge = prepared("universal", model)
        return verify_many(items, judge, sink=kept.add, stored=kept.has, at_once=3, claims=claims)

    one, other = await asyncio.gather(batch(ByStage(answer)), batch(ByStage(answer)))
    ids = Counter(verdict.trajectory_id for verdict in kept.verdicts)
    assert set(ids) == {run.id for run, _ in items} and set(ids.values()) == {1}
    assert one.judged + other.judged == len(items) == one.skipped + other.skipped
    assert not claims._held


async def test_what_was_claimed_and_not_finished_can_be_claimed_again():
    items, answer = cases()
    kept, claims = Kept(), JudgingLocks()
    spent = budgeted(ByStage(answer), Budget(calls=3))
    tally = await verify_many(items[:1], prepared("universal", spent), sink=kept.add, claims=claims)
    assert tally.stopped and not kept.verdicts
    await verify_many(items[:1], prepared("universal", ByStage(answer)), sink=kept.add, claims=claims)
    assert len(kept.verdicts) == 1


@pytest.mark.parametrize("name", ["universal", "agenttrek"])
async def test_a_cancelled_batch_is_cancelled_and_leaves_no_verdict(name):
    items, _ = cases()
    asked = asyncio.Event()

    class Stuck(ByStage):
        async def ask(self, *args, **named):
            asked.set()
            await asyncio.Event().wait()

    kept, claims = Kept(), JudgingLocks()
    work = asyncio.create_task(verify_many(items, prepared(name, Stuck(None)), sink=kept.add, claims=claims))
    await asked.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not kept.verdicts and not claims._held


def frozen_for(run):
    rubric = Rubric(items=(Criterion(criterion="Find it", description="as asked", max_points=4),))
    return VerifierResources(rubric=FrozenRubric.of(rubric, run.goal, run.task_id))


async def test_a_frozen_rubric_never_judges_another_task():
    """It used to be compared with the first trajectory only."""
    items, answer = cases()
    (mine, blobs), (foreign, _) = items[:2]
    model, kept = ByStage(answer), Kept()
    judge = prepared("universal", model, resources=frozen_for(mine))
    both_tasks = f"{mine.task_id}.*{mine.goal.instruction[:20]}.*{foreign.goal.instruction[:20]}"
    judge.check(mine.goal)
    with pytest.raises(InputError, match=both_tasks):
        judge.check(foreign.goal)
    with pytest.raises(InputError, match=both_tasks):
        await judge.judge(foreign.goal, foreign, blobs)
    with pytest.raises(InputError, match=both_tasks):
        await verify_many([(foreign, blobs)], judge, sink=kept.add)
    with pytest.raises(InputError, match=both_tasks):
        universal = JUDGES.get("universal")
        await universal.plan([(mine, blobs), (foreign, blobs)], universal.options(), resources=frozen_for(mine))
    assert not model.asked and not kept.verdicts


async def test_a_judge_without_rubrics_does_not_care_about_a_frozen_one():
    items, _ = cases()
    kept = Kept()
    judge = prepared("agenttrek", ByStage(lambda p, m: "Status: success"), resources=frozen_for(items[0][0]))
    await verify_many(items, judge, sink=kept.add)
    assert {verdict.status for verdict in kept.verdicts} == {"pass"}
