"""The Universal Verifier as a judge: its options, and what it would cost. The stages themselves are in `verify.py`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from webassay.core.interaction import Goal
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Verdict
from webassay.judging.case import Case, clip
from webassay.judging.inquiry import PROFILES, Profile, Pruning, Selector, Taxonomy
from webassay.judging.judges.base import Item, Judge, PreparedJudge, accept_any, never_stored
from webassay.judging.ledger import Models, prompt
from webassay.judging.plan import CHARACTERS_PER_TOKEN, TOKENS_OF_PICTURE, TOKENS_OF_REPLY, Plan
from webassay.judging.verify import NAME, VERSION, short_circuit, universal_fingerprint, verify

if TYPE_CHECKING:
    from webassay.judging.resources import VerifierResources

_TOKENS_OF_REPLY = {"relevance": 60, "evidence": 350, "rubric": 900, "rescore": 700}
_CHARACTERS_OF_CRITERION = 700
_CHARACTERS_OF_EVIDENCE = 900


@dataclass(frozen=True, slots=True)
class UniversalOptions:
    """Everything but `profile` changes one choice of the profile; none keeps it."""

    profile: Literal["webassay", "paper", "released"] = "webassay"
    """Ours, as the paper describes it, or as its authors released it."""
    votes: int | None = None
    """Odd: how often the deciding stages are asked."""
    final: Selector | None = None
    """What decides the status: the outcome, the process score, or both."""
    top_k: int | None = None
    """Screenshots looked at for each criterion."""
    prune: Pruning | None = None
    """Which of these are dropped again."""
    relevance_batch: int | None = None
    """Screenshots per relevance call."""
    page_text: bool | None = None
    """Page text and accessibility trees count as evidence, too."""
    record_findings: bool | None = None
    """What the record proves without a model outranks the votes."""
    critical_points: bool | None = None
    """Look for actions that commit the user, and whether the task allows them."""
    checked_outcome: bool | None = None
    """The outcome must list its reasons and agree with them."""
    validity: bool | None = None
    """Also judge whether the task itself can be done."""
    diagnose: bool | None = None
    """Say what went wrong, where, and of which kind."""
    taxonomy: Taxonomy | None = None
    """Whose failure codes are used."""
    attempts: int | None = None
    """Replies asked for before a stage falls back."""
    max_side: int | None = None
    """Scale screenshots down to this many pixels on the longer side; 0 shows them as recorded."""

    @property
    def settled(self) -> Profile:
        """The profile with these changes."""
        changes = {key: value for key, value in asdict(self).items() if key != "profile" and value is not None}
        return PROFILES[self.profile].with_changes(**changes)


@dataclass(frozen=True, kw_only=True)
class UniversalVerifier(Judge[UniversalOptions]):
    def prepare(
        self, models: Models | None, options: UniversalOptions, resources: "VerifierResources"
    ) -> PreparedJudge:
        return prepare_profile(models, options.settled, resources)

    async def plan(
        self,
        items: Iterable[Item],
        options: UniversalOptions,
        *,
        stored: Callable[[str], bool] = never_stored,
        resources: "VerifierResources",
    ) -> Plan:
        """Computed, because a rehearsal would take as many calls as the real thing."""
        frozen = resources.rubric
        if frozen is None:
            return plan_profile(items, options.settled, stored=stored)
        fitting = _checked(items, frozen.check)
        criteria = len(frozen.rubric.items)
        return plan_profile(fitting, options.settled, criteria=criteria, stored=stored, rubric_given=True)


def _checked(items: Iterable[Item], check: Callable[[Goal], None]) -> Iterator[Item]:
    for trajectory, blobs in items:
        check(trajectory.goal)
        yield trajectory, blobs


UNIVERSAL = UniversalVerifier(
    name=NAME,
    summary="The Universal Verifier: a rubric, evidence for each criterion, the outcome and a diagnosis.",
    version=VERSION,
    options=UniversalOptions,
    needs_model=False,
)


def prepare_profile(models: Models | None, profile: Profile, resources: "VerifierResources") -> PreparedJudge:
    """For profiles that options cannot express."""

    async def judge(goal: Goal, trajectory: Trajectory, blobs: Blobs) -> Verdict:
        return await verify(goal, trajectory, blobs, models, profile, resources)

    check = accept_any if resources.rubric is None else resources.rubric.check
    return PreparedJudge(NAME, universal_fingerprint(models, profile, resources), judge, check)


# --- what it would cost ---------------------------------------------------------------------------------


def plan_profile(
    items: Iterable[Item],
    profile: Profile,
    *,
    criteria: int = 4,
    stored: Callable[[str], bool] = never_stored,
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
        tokens_out += sum(count * _TOKENS_OF_REPLY.get(name, TOKENS_OF_REPLY) for name, count, _ in stages)
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
        text = len(prompt(stage).text) + characters + (words * pictures if profile.page_text else 0)
        return text // CHARACTERS_PER_TOKEN + pictures * TOKENS_OF_PICTURE

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
