"""The Universal Verifier as a judge: its options, and what it would cost. `verify.py` has the stages."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from webassay.core.interaction import Goal
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Verdict
from webassay.judging.judges.base import Item, Judge, PreparedJudge, accept_any, never_stored
from webassay.judging.ledger import Models
from webassay.judging.plan import CostEstimate
from webassay.judging.taxonomy import Taxonomy
from webassay.judging.universal.profile import PROFILES, Profile, Pruning, Selector
from webassay.judging.universal.rehearsal import CRITERIA, DryCache, Understudy
from webassay.judging.universal.verify import NAME, VERSION, stages, universal_fingerprint, verify
from webassay.llm.client import model_of

if TYPE_CHECKING:
    from webassay.judging.universal.resources import VerifierResources


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
    """Screenshots looked at for each criterion; 0: as many as matter."""
    most_pictures: int | None = None
    """With top_k 0: screenshots looked at in all."""
    prune: Pruning | None = None
    """Which of these are dropped again."""
    relevance_batch: int | None = None
    """Screenshots per relevance call."""
    evidence_batch: int | None = None
    """Screenshots per evidence call."""
    page_text: bool | None = None
    """Page text and accessibility trees count as evidence, too."""
    text_budget: int | None = None
    """Characters of page text that the stages which score and decide are given."""
    record_findings: bool | None = None
    """What the record proves without a model outranks the votes."""
    critical_points: bool | None = None
    """Look for actions that commit the user, and whether the task allows them."""
    checked_outcome: bool | None = None
    """The outcome must list its reasons and agree with them."""
    closer_look: bool | None = None
    """Look again where the evidence takes away what the actions alone had earned."""
    sparing: bool | None = None
    """Ask nobody where the record or the task alone gives the answer."""
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
    prompts: str | None = None
    """A folder of other prompts; what it lacks is built in."""

    @property
    def as_profile(self) -> Profile:
        """The profile with these changes."""
        changes = {key: value for key, value in asdict(self).items() if key != "profile" and value is not None}
        folder = changes.pop("prompts", None)
        profile = PROFILES[self.profile].with_changes(**changes)
        if folder is None:
            return profile
        return profile.with_changes(prompts=profile.prompts.with_folder(Path(folder), stages(profile)))


@dataclass(frozen=True, kw_only=True)
class UniversalVerifier(Judge[UniversalOptions]):
    def prepare(
        self, models: Models | None, options: UniversalOptions, resources: "VerifierResources"
    ) -> PreparedJudge:
        return prepare_profile(models, options.as_profile, resources)

    async def plan(
        self,
        items: Iterable[Item],
        options: UniversalOptions,
        *,
        stored: Callable[[str], bool] = never_stored,
        resources: "VerifierResources",
    ) -> CostEstimate:
        frozen = resources.rubric
        fitting = items if frozen is None else _checked(items, frozen.check)
        return await plan_profile(fitting, options.as_profile, resources, stored=stored)


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


async def plan_profile(
    items: Iterable[Item],
    profile: Profile,
    resources: "VerifierResources",
    *,
    stored: Callable[[str], bool] = never_stored,
    criteria: int = CRITERIA,
) -> CostEstimate:
    """Every verification is played twice without a model: on its cheapest course, and on its dearest."""
    # Scaling pictures takes time and changes no count.
    profile = profile.with_changes(max_side=0)
    parts = [Understudy(resources.rubric_model or "rehearsal", dear=dear, criteria=criteria) for dear in (False, True)]
    models = [Models.one(part, outcome=model_of(resources.outcome_model or part.name, part.answer)) for part in parts]
    rubrics = [DryCache(resources.rubrics) for _ in parts]
    sharing = [
        replace(resources, rubrics=cache, validities=DryCache(resources.validities), read_picture=None, limit=None)
        for cache in rubrics
    ]
    counted = decided = skipped = 0
    for trajectory, blobs in items:
        counted += 1
        if stored(trajectory.id):
            skipped += 1
            continue
        before = parts[1].calls
        for asked, mine in zip(models, sharing, strict=True):
            await verify(trajectory.goal, trajectory, blobs, asked, profile, mine)
        decided += parts[1].calls == before
    least, most = parts
    to_write = len(rubrics[1].made)
    return CostEstimate(
        counted, decided, skipped, to_write, least.calls, most.calls, most.input_tokens, most.output_tokens
    )
