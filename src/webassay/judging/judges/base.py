"""What a judge is. To add one, put a `ModelJudge` into a module of this package, or name it as an entry point.

A `ModelJudge` asks a model a few questions and reads the replies. Other judges derive from `Judge`.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from webassay.core.errors import BudgetError, Fault, GradingError, InputError, ModelError, WebassayError, boundary
from webassay.core.interaction import Goal
from webassay.core.record import Json
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Aspect, Finding, Fingerprint, Status, Verdict
from webassay.judging.case import Case, PromptBuilder, acted_in, on_one_line
from webassay.judging.ledger import Ledger, Models
from webassay.judging.plan import TOKENS_OF_REPLY, CostEstimate, RehearsalModel
from webassay.judging.prompts import Prompts
from webassay.llm.client import Settings

if TYPE_CHECKING:
    # Most judges know nothing of rubrics; importing this would tie their versions to the source of `rubric.py`.
    from webassay.judging.universal.resources import VerifierResources

Item = tuple[Trajectory, Blobs]
JudgeFunction = Callable[[Goal, Trajectory, Blobs], Awaitable[Verdict]]

O = TypeVar("O")  # noqa: E741


def accept_any(goal: Goal) -> None:
    """For judges that can judge every task."""


def never_stored(trajectory_id: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class PreparedJudge:
    """A judge with its models and settings. The fingerprint is known before anything is asked."""

    name: str
    fingerprint: Fingerprint
    judge: JudgeFunction
    check: Callable[[Goal], None] = accept_any
    """Raises InputError for a task that this judge must not judge (a frozen rubric is for one task only)."""

    async def verdict(self, trajectory: Trajectory, blobs: Blobs) -> Verdict:
        """As `judge`, but a failure to judge is a fault of this trajectory. Raises for a spent budget and a refused
        task."""
        self.check(trajectory.goal)
        try:
            with boundary(GradingError, f"judging {trajectory.id}"):
                return await self.judge(trajectory.goal, trajectory, blobs)
        except BudgetError:
            raise
        except WebassayError as error:
            fault = Fault.of(error)
        return Verdict(
            trajectory_id=trajectory.id,
            task_id=trajectory.task_id,
            status="fault",
            findings=(Finding(check=self.name, status="fault", message=fault.message, code=fault.boundary),),
            fingerprint=self.fingerprint,
            fault=fault,
        )


@dataclass(frozen=True, kw_only=True)
class Judge(ABC, Generic[O]):
    name: str
    summary: str
    """One line, for help and the reference."""
    version: str
    """Part of the fingerprint. Raise it whenever a change can move a verdict; a test reminds you."""
    options: type[O]
    """A frozen dataclass with defaults. Its fields are what users set in `name[key=value]`."""
    as_published: O | None = None
    """The options with which the authors' own scripts ask and read, if there are such scripts."""
    needs_model: bool = True
    """False: without a model it still decides what rules can decide, and abstains from the rest."""
    sample_reply: str = ""
    """A reply that this judge can read, for rehearsals. If it asks several kinds of questions, one that fits all."""

    @abstractmethod
    def prepare(self, models: Models | None, options: O, resources: "VerifierResources") -> PreparedJudge: ...

    async def plan(
        self,
        items: Iterable[Item],
        options: O,
        *,
        stored: Callable[[str], bool] = never_stored,
        resources: "VerifierResources",
    ) -> CostEstimate:
        """What judging would cost. Plays it through with a stand-in for the model that gives `sample_reply`."""
        model = RehearsalModel(self.sample_reply)
        judge = self.prepare(Models.one(model), options, resources)
        counted = decided = skipped = 0
        for trajectory, blobs in items:
            counted += 1
            if stored(trajectory.id):
                skipped += 1
                continue
            before = model.calls
            await judge.verdict(trajectory, blobs)
            decided += model.calls == before
        tokens_out = model.calls * TOKENS_OF_REPLY
        return CostEstimate(counted, decided, skipped, 0, model.calls, model.calls, model.input_tokens, tokens_out)

    def check_models(self, models: Models | None) -> None:
        if models is None and self.needs_model:
            raise InputError(f"The judge {self.name!r} needs a model.", hint="Name one with --model.")


# --- judges that ask a model and read its reply ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    temperature: float | None = None
    """none: the provider's default. Reasoning models refuse any other value."""
    seed: int | None = None
    """none: the provider's default."""
    prompts: str | None = None
    """A folder of other prompts; what it lacks is built in."""


@dataclass(frozen=True, slots=True)
class PictureOptions(JudgeOptions):
    max_side: int = 0
    """Scale screenshots down to this many pixels on the longer side; 0 shows them as recorded."""


@dataclass(frozen=True, slots=True)
class LastPictureOptions(PictureOptions):
    last_images: int = 1
    """Screenshots shown, counted from the end, as published; 0 shows all of them."""


@dataclass
class Opinion:
    """What a judge makes of a case, before it becomes a verdict."""

    success: bool | None
    """None: no verdict could be read."""
    aspects: dict[str, Aspect] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    details: dict[str, Json] = field(default_factory=dict)
    """Kept in `Verdict.replies`."""
    why_not: str = ""
    """Why there is no verdict."""


M = TypeVar("M", bound=JudgeOptions)


@dataclass(frozen=True, kw_only=True)
class ModelJudge(Judge[M]):
    opine: Callable[[Case, Ledger, Models, M], Awaitable[Opinion]]
    """Asks through the ledger, reads the replies."""
    asks: tuple[str, ...]
    """The names of all prompts that it asks with; their hashes are part of the fingerprint."""
    prompts: Prompts = field(default_factory=Prompts)
    """Where their words are; a judge from elsewhere brings its own."""

    def prepare(self, models: Models | None, options: M, resources: "VerifierResources") -> PreparedJudge:
        self.check_models(models)
        assert models is not None
        prompts, settings = self.prompts, asdict(options)
        if folder := settings.pop("prompts"):
            prompts = prompts.with_folder(Path(folder), self.asks)
        asked = models.with_settings(Settings(temperature=options.temperature, seed=options.seed))
        stamp = Fingerprint(
            grader=self.name,
            version=self.version,
            model=models.name,
            prompts=prompts.hashes(self.asks),
            settings=settings,
        )

        async def judge(goal: Goal, trajectory: Trajectory, blobs: Blobs) -> Verdict:
            ledger = Ledger(resources.limit, prompts=prompts)
            if trajectory.ending.fault is not None and trajectory.ending.kind == "fault":
                return _verdict(trajectory, stamp, ledger, Opinion(None), trajectory.ending.fault)
            max_side = options.max_side if isinstance(options, PictureOptions) else 0
            case = Case.of(goal, trajectory, blobs, max_side=max_side)
            try:
                opinion = await self.opine(case, ledger, asked, options)
            except ModelError as error:
                return _verdict(trajectory, stamp, ledger, Opinion(None), Fault.of(error))
            return _verdict(trajectory, stamp, ledger, opinion, None)

        return PreparedJudge(self.name, stamp, judge)


def _verdict(
    trajectory: Trajectory, stamp: Fingerprint, ledger: Ledger, opinion: Opinion, fault: Fault | None
) -> Verdict:
    status: Status = "abstain" if opinion.success is None else "pass" if opinion.success else "fail"
    findings = list(opinion.findings)
    if fault is not None:
        status = "fault"
        findings.append(Finding(check=stamp.grader, status="fault", message=fault.message, code="fault"))
    elif opinion.success is None:
        reason = opinion.why_not or "The reply holds no verdict."
        findings.append(Finding(check=stamp.grader, status="abstain", message=reason, code="no_verdict"))
    return Verdict(
        trajectory_id=trajectory.id,
        task_id=trajectory.task_id,
        status=status,
        aspects={"outcome": Aspect(value=opinion.success), **opinion.aspects},
        findings=tuple(findings),
        fingerprint=stamp,
        replies={"calls": dict(sorted(ledger.calls.items())), **opinion.details},
        cost_usd=ledger.usage.cost_usd,
        fault=fault,
    )


# --- what several of them show --------------------------------------------------------------------------


def add_last_pictures(builder: PromptBuilder, case: Case, count: int) -> PromptBuilder:
    """The last page; with another count, as many pages as that, or all of them with 0."""
    shots = [frame for frame in case.frames if frame.screenshot]
    if count != 1 and shots:
        shown = shots[-count:] if count else shots
        name = last_picture_name(case)
        builder.note(f"The last {len(shown)} of {len(shots)} screenshots, in order; the last one is {name}:")
        for frame in shown:
            builder.picture(case.picture(frame))
        return builder
    if not shots:
        return builder
    name = last_picture_name(case)
    return builder.note(f"{name[0].upper()}{name[1:]}:").picture(case.picture(shots[-1]))


def last_picture_name(case: Case) -> str:
    """Nobody must take an earlier page for the state at the end."""
    trajectory = case.trajectory
    last = trajectory.last_seen or (trajectory.steps[-1].seen if trajectory.steps else None)
    if last is not None and last.screenshot is None:
        return "an earlier page (there is no screenshot of the last page)"
    return "the last page"


def has_picture(case: Case) -> bool:
    return any(frame.screenshot for frame in case.frames)


def action_list(case: Case, *, reasons: bool = False) -> str:
    """One numbered line per step, as in the published scripts."""
    lines: list[str] = []
    for step in case.trajectory.steps:
        acted = acted_in(step)
        if acted:
            reason = f". Reasoning: {on_one_line(step.thought)}" if reasons and step.thought else ""
            lines.append(f"{len(lines) + 1}. {acted}{reason}")
    return "\n".join(lines) or "(no action was taken)"
