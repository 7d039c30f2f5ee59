"""Many trajectories: at once, to be continued, and with the cost known before it is spent.

Resuming is subtraction: what has a verdict under the same fingerprint is not judged again. Calls already paid for
inside a trajectory that was cut off come back from the model's cache.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from webassay.core.errors import BudgetError, Fault, GradingError, InputError, WebassayError, boundary
from webassay.core.interaction import Goal
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Finding, Fingerprint, Verdict
from webassay.judging.case import Case, clip
from webassay.judging.inquiry import PROFILES, Profile
from webassay.judging.judges import DEFAULTS, JUDGES, Options, fingerprint_of
from webassay.judging.ledger import Models, gather_all, prompt
from webassay.judging.verify import NAME, VerifierResources, short_circuit, universal_fingerprint, verify
from webassay.llm.client import PROVIDERS_CHOICE, Message, Reply, Settings

Judging = Callable[[Goal, Trajectory, Blobs], Awaitable[Verdict]]


@dataclass(frozen=True, slots=True)
class Verifier:
    """A judge with everything that it needs, and the fingerprint that its verdicts will have."""

    name: str
    fingerprint: Fingerprint
    judge: Judging


def names() -> tuple[str, ...]:
    return (NAME, *JUDGES)


def verifier(
    name: str,
    models: Models | None,
    *,
    profile: Profile = PROFILES["webassay"],
    options: Options = DEFAULTS,
    desk: VerifierResources | None = None,
) -> Verifier:
    """`universal`, or one of the judges of the literature, by name."""
    desk = desk or VerifierResources()
    if name == NAME:
        stamp = universal_fingerprint(models, profile, desk.rubric)
        return Verifier(name, stamp, partial(_universal, models, profile, desk))
    if name not in JUDGES:
        raise InputError(f"There is no verifier {name!r}.", hint=f"Known: {', '.join(names())}.")
    if models is None:
        raise InputError(f"The verifier {name!r} needs a model.", hint="Name one with --model.")
    judge = partial(JUDGES[name], models=models, options=options, limit=desk.limit)
    return Verifier(name, fingerprint_of(name, models, options), judge)


async def _universal(
    models: Models | None, profile: Profile, desk: VerifierResources, goal: Goal, trajectory: Trajectory, blobs: Blobs
) -> Verdict:
    return await verify(goal, trajectory, blobs, models, profile, desk)


# --- the batch ------------------------------------------------------------------------------------------

Item = tuple[Trajectory, Blobs]


@dataclass
class Tally:
    judged: int = 0
    skipped: int = 0
    faulted: int = 0
    stopped: str = ""
    """Why the batch ended early, where it did: the budget."""


async def verify_many(
    items: Iterable[Item],
    judge: Verifier,
    *,
    sink: Callable[[Verdict], None],
    stored: Callable[[str, Fingerprint], bool] = lambda _id, _fingerprint: False,
    at_once: int = 8,
) -> Tally:
    """Judges whatever has no verdict yet; each verdict goes to `sink` the moment it is there.

    Trajectories are taken from `items` one by one as there is room for them, so that a thousand need no more memory
    than a few. One that cannot be judged becomes a verdict of its own (`fault`) and stops nothing. When the budget
    is spent the batch ends; what is finished is kept.
    """
    if at_once < 1:
        raise InputError("At least one trajectory must be under way at a time.")
    tally = Tally()
    waiting = iter(items)
    taken: set[str] = set()

    async def work() -> None:
        for trajectory, blobs in waiting:
            if tally.stopped:
                return
            if trajectory.id in taken or stored(trajectory.id, judge.fingerprint):
                tally.skipped += 1
                continue
            taken.add(trajectory.id)
            try:
                verdict = await _one(judge, trajectory, blobs)
            except BudgetError as error:
                tally.stopped = str(error)
                return
            tally.judged += 1
            tally.faulted += verdict.status == "fault"
            sink(verdict)

    await gather_all(work() for _ in range(at_once))
    return tally


async def _one(judge: Verifier, trajectory: Trajectory, blobs: Blobs) -> Verdict:
    try:
        with boundary(GradingError, f"judging {trajectory.id}"):
            return await judge.judge(trajectory.goal, trajectory, blobs)
    except BudgetError:
        raise
    except WebassayError as error:
        fault = Fault.of(error)
    return Verdict(
        trajectory_id=trajectory.id,
        task_id=trajectory.task_id,
        status="fault",
        findings=(Finding(check=judge.name, status="fault", message=fault.message, code=fault.boundary),),
        fingerprint=judge.fingerprint,
        fault=fault,
    )


# --- the dry run ----------------------------------------------------------------------------------------

_TOKENS_OF_PICTURE = 1100
_CHARACTERS_A_TOKEN = 4
_TOKENS_OF_REPLY = {"relevance": 60, "evidence": 350, "rubric": 900, "rescore": 700}
_TOKENS_OF_OTHER_REPLY = 400
_CHARACTERS_OF_CRITERION = 700
_CHARACTERS_OF_EVIDENCE = 900


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will ask for. Of the Universal Verifier the calls are exact but for the conditions and the number of
    criteria, which nobody knows before the rubric is written; of WebJudge by key points, but for their number. Tokens
    are an estimate."""

    trajectories: int
    decided_by_rule: int
    already_judged: int
    rubrics: int
    calls: int
    calls_at_most: int
    input_tokens: int
    output_tokens: int


def plan(
    items: Iterable[Item],
    profile: Profile,
    *,
    criteria: int = 4,
    stored: Callable[[str], bool] = lambda _id: False,
    rubric_given: bool = False,
) -> Plan:
    counted = decided = skipped = calls = most = tokens_in = tokens_out = 0
    tasks: set[str] = set()
    for trajectory, blobs in items:
        counted += 1
        if stored(trajectory.id):
            skipped += 1
            continue
        case = Case.of(trajectory.goal, trajectory, blobs, text=profile.page_text, merge=profile.merge_frames)
        if short_circuit(case, profile) is not None:
            decided += 1
            continue
        new = trajectory.goal.instruction not in tasks and not rubric_given
        tasks.add(trajectory.goal.instruction)
        stages = list(_stages(case, profile, criteria, new))
        calls += sum(count for _, count, _ in stages)
        most += sum(count for _, count, _ in stages) + (1 if profile.conditions_from <= criteria else 0)
        tokens_in += sum(count * size for _, count, size in stages)
        tokens_out += sum(count * _TOKENS_OF_REPLY.get(name, _TOKENS_OF_OTHER_REPLY) for name, count, _ in stages)
    rubrics = 0 if rubric_given else len(tasks)
    return Plan(counted, decided, skipped, rubrics, calls, most, tokens_in, tokens_out)


def _stages(case: Case, profile: Profile, criteria: int, new_rubric: bool) -> Iterator[tuple[str, int, int]]:
    """Stage, number of calls, input tokens of each."""
    frames = len(case.frames)
    picked = min(frames, profile.top_k * criteria)
    rubric = criteria * _CHARACTERS_OF_CRITERION
    task = len(case.goal.instruction) + 400
    record = task + len(case.history) + len(clip(case.answer, 20_000))
    evidence = picked * _CHARACTERS_OF_EVIDENCE

    def size(stage: str, characters: int, pictures: int = 0, words: int = 0) -> int:
        text = len(prompt(stage)) + characters + (words * pictures if profile.page_text else 0)
        return text // _CHARACTERS_A_TOKEN + pictures * _TOKENS_OF_PICTURE

    if new_rubric:
        if profile.critical_points:
            yield "critical_point", 1, size("critical_point", task)
        yield "rubric", 1, size("rubric", task)
        yield "dependency", 1, size("dependency", task + rubric)
    yield "action_only", 1, size("action_only", record + rubric)
    if frames:
        batches = -(-frames // profile.relevance_batch)
        yield "relevance", batches, size("relevance", task + rubric, min(frames, profile.relevance_batch), 1500)
        yield "evidence", picked, size("evidence", record + rubric, 1, 6000)
    yield "reality", 1, size("reality", record + rubric + evidence)
    for stage in ("rescore", "side_effects"):
        yield stage, profile.votes, size(stage, record + 2 * rubric + evidence)
    outcome = "outcome_checked" if profile.checked_outcome else "outcome"
    yield "outcome", profile.votes, size(outcome, record + rubric + evidence)
    if profile.critical_points:
        yield "cp_violation", 1, size("cp_violation", record + evidence)
    if profile.diagnose:
        yield "diagnosis", 1, size("diagnosis", record + rubric + evidence)
    if profile.validity:
        yield "validity", 1, size("validity", record)


class _Rehearsal:
    """Stands in for a model: keeps count of what it would be asked, and says something that every judge can read."""

    name = "rehearsal"
    _SAYS = (
        "Key Points:\n1. a\n2. b\n3. c\n4. d\n### Reasoning: x\n### Score: 3\nReward: 3\n"
        "<success>No</success><side>No</side><optimal>2</optimal><loop>No</loop>\nThoughts: x\nStatus: failure\n"
    )

    def __init__(self) -> None:
        self.calls = self.input_tokens = 0

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        settings: Settings = PROVIDERS_CHOICE,
        purpose: str = "",
    ) -> Reply:
        parts = [part for message in messages for part in message.parts]
        texts = [part for part in parts if isinstance(part, str)]
        self.calls += 1
        self.input_tokens += sum(map(len, texts)) // _CHARACTERS_A_TOKEN
        self.input_tokens += (len(parts) - len(texts)) * _TOKENS_OF_PICTURE
        return Reply(self._SAYS)


async def rehearse(
    items: Iterable[Item],
    name: str,
    *,
    options: Options = DEFAULTS,
    stored: Callable[[str], bool] = lambda _id: False,
) -> Plan:
    """The plan of one of the judges of the literature: they are few calls each, so they are simply played through."""
    model = _Rehearsal()
    judge = verifier(name, Models.one(model), options=options)
    counted = decided = skipped = 0
    for trajectory, blobs in items:
        counted += 1
        if stored(trajectory.id):
            skipped += 1
            continue
        before = model.calls
        await _one(judge, trajectory, blobs)
        decided += model.calls == before
    tokens_out = model.calls * _TOKENS_OF_OTHER_REPLY
    return Plan(counted, decided, skipped, 0, model.calls, model.calls, model.input_tokens, tokens_out)


def describe_plan(made: Plan) -> str:
    extra = f" (at most {made.calls_at_most} with conditions)" if made.calls_at_most > made.calls else ""
    rubrics = f", {made.rubrics} rubrics to write" if made.rubrics else ""
    settled = f"{made.already_judged} judged already, {made.decided_by_rule} without a call"
    return (
        f"{made.trajectories} trajectories: {settled}\n"
        f"{made.calls} calls{extra}{rubrics}\n"
        f"about {made.input_tokens:,} tokens in, {made.output_tokens:,} tokens out"
    )
