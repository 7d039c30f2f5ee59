"""The judges of the literature, each as its authors describe it, in our own words.

They are here to be measured against people and against the Universal Verifier, so each keeps its own habits (what it
looks at, how lenient it is). Two things are not kept unless asked for: a reply without a verdict is an abstention,
never a success, and the last verdict that stands as one counts (`parsing="as-published"` reads as their scripts do).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Literal, Protocol

from webassay.core.errors import Fault, ModelError
from webassay.core.interaction import Goal
from webassay.core.record import Json
from webassay.core.trajectory import BlobRef, Blobs, Trajectory
from webassay.core.verdict import Aspect, Finding, Fingerprint, Status, Verdict
from webassay.judging import parsers
from webassay.judging.case import Case, Frame, PromptBuilder, describe_step
from webassay.judging.ledger import Ledger, Models, Question, fingerprint, gather_all
from webassay.judging.parsers import Parsing
from webassay.llm.client import Image, Settings


@dataclass(frozen=True, slots=True)
class Options:
    parsing: Parsing = "robust"
    last_images: int = 15
    """WebVoyager: so many screenshots from the end; 0 means all of them."""
    threshold: int = 3
    """WebJudge: screenshots with at least this score are shown to the verdict."""
    max_images: int = 50
    """WebJudge: at most so many of them, the first."""
    state: Literal["tree", "screenshot", "both", "none"] = "screenshot"
    """AgentRewardBench: what is shown of the last page."""
    inverted: bool = False
    """AgentRewardBench: ask for success last."""
    tree_limit: int = 40_000
    """Characters of an accessibility tree that are shown."""
    max_side: int = 0
    temperature: float | None = None
    seed: int | None = None
    """None: the provider's choice, since models that reason refuse to be told."""


DEFAULTS = Options()

AS_PUBLISHED = Options(parsing="as-published", temperature=0.0, seed=42)
"""As the authors' own scripts ask and read, their traps included; only for models that know a temperature."""


class Judge(Protocol):
    def __call__(
        self,
        goal: Goal,
        trajectory: Trajectory,
        blobs: Blobs,
        models: Models,
        *,
        options: Options = ...,
        limit: asyncio.Semaphore | None = None,
    ) -> Awaitable[Verdict]: ...


@dataclass
class Opinion:
    """What one judge found, before it becomes a verdict."""

    success: bool | None
    aspects: dict[str, Aspect] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    details: dict[str, Json] = field(default_factory=dict)
    why_not: str = ""
    """Why there is no verdict."""


Opine = Callable[[Case, Ledger, Models, Options], Awaitable[Opinion]]


def _last_picture(case: Case) -> Image | None:
    return next((case.picture(frame) for frame in reversed(case.frames) if frame.screenshot), None)


def _actions(case: Case, *, reasons: bool = False) -> str:
    """One numbered line a step, as in the published scripts."""
    lines: list[str] = []
    for step in case.trajectory.steps:
        acted = "; ".join(action.text for action in step.actions) or step.action_text
        if acted:
            reason = f". Reasoning: {step.thought}" if reasons and step.thought else ""
            lines.append(f"{len(lines) + 1}. {acted}{reason}")
    return "\n".join(lines) or "(no action was taken)"


# --- WebVoyager -----------------------------------------------------------------------------------------


async def _webvoyager(case: Case, ledger: Ledger, models: Models, options: Options) -> Opinion:
    if options.parsing == "as-published" and not case.trajectory.answer:
        return Opinion(False, details={"rule": "no answer, no success"})
    shots = [frame for frame in case.frames if frame.screenshot]
    shown = shots[-options.last_images :] if options.last_images else shots

    def sheet() -> PromptBuilder:
        paper = PromptBuilder().data("task", case.goal.instruction).data("answer of the agent", case.answer)
        paper.note(f"The last {len(shown)} of {len(shots)} screenshots, in order:")
        for frame in shown:
            paper.picture(case.picture(frame))
        return paper

    reply = await ledger.text(models.outcome, Question("webvoyager"), sheet)
    return Opinion(parsers.webvoyager(reply, options.parsing))


# --- Autonomous Evaluation and Refinement ---------------------------------------------------------------


async def _autonomous(case: Case, ledger: Ledger, models: Models, options: Options, *, caption: bool) -> Opinion:
    picture = _last_picture(case)
    if picture is None:
        return Opinion(None, why_not="There is no screenshot of the last page.")
    described = ""
    if caption:
        described = await ledger.text(
            models.relevance, Question("caption"), lambda: PromptBuilder().note("The last page:").picture(picture)
        )

    def sheet() -> PromptBuilder:
        paper = PromptBuilder().data("intent", case.goal.instruction).data("actions", _actions(case))
        paper.data("response of the agent", case.answer)
        if caption:
            return paper.data("the last page, described", described)
        return paper.note("The last page:").picture(picture)

    reply = await ledger.text(models.outcome, Question("autonomous"), sheet)
    return Opinion(parsers.status(reply, options.parsing), details={"caption": described} if caption else {})


# --- AgentTrek ------------------------------------------------------------------------------------------


async def _agenttrek(case: Case, ledger: Ledger, models: Models, options: Options) -> Opinion:
    def sheet() -> PromptBuilder:
        turns = []
        for number, step in enumerate(case.trajectory.steps, 1):
            acted = "; ".join(action.text for action in step.actions) or step.action_text
            if acted or step.thought:
                turns.append(f"Thought {number}: {step.thought}\nAction {number}: {acted}")
        paper = PromptBuilder().data("goal", case.goal.instruction).data("trajectory", "\n\n".join(turns) or "(empty)")
        picture = _last_picture(case)
        return paper.note("The last page:").picture(picture) if picture else paper

    reply = await ledger.text(models.outcome, Question("agenttrek"), sheet)
    return Opinion(parsers.status(reply, options.parsing))


# --- WebJudge -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Picked:
    frame: Frame
    score: int
    reason: str


def pick(frames: Sequence[Frame], replies: Sequence[str], options: Options) -> tuple[Picked, ...]:
    """What WebJudge's verdict gets to see: screenshots with a score at the threshold or above, in order, the first so
    many."""
    scored = [
        Picked(frame, parsers.frame_score(reply, options.parsing), parsers.frame_reason(reply))
        for frame, reply in zip(frames, replies, strict=True)
    ]
    return tuple(item for item in scored if item.score >= options.threshold)[: options.max_images]


async def _webjudge(
    case: Case, ledger: Ledger, models: Models, options: Options, *, general: bool = False, by_point: bool = False
) -> Opinion:
    task = case.goal.instruction
    inputs = _input_images(case) if general else ()
    kind = "webjudge_general" if general else "webjudge"

    def task_sheet() -> PromptBuilder:
        paper = PromptBuilder().data("task", task)
        for image in inputs:
            paper.note("A picture that belongs to the task:").picture(image)
        return paper

    listed = await ledger.text(models.rubric, Question("webjudge.key_points", words="webjudge_key_points"), task_sheet)
    points = parsers.key_points(listed)
    shots = [frame for frame in case.frames if frame.screenshot]

    async def look(frame: Frame) -> str:
        def sheet() -> PromptBuilder:
            return task_sheet().data("key points", points).note("The screenshot:").picture(case.picture(frame))

        return await ledger.text(
            models.relevance, Question("webjudge.frame", f"{frame.number:04d}", f"{kind}_frame"), sheet
        )

    replies = await gather_all(look(frame) for frame in shots)
    picked = pick(shots, replies, options)

    def verdict_sheet(point: str) -> PromptBuilder:
        paper = task_sheet().data("key point" if by_point else "key points", point)
        paper.data("actions", _actions(case, reasons=general))
        if picked:
            reasons = "\n".join(f"{number}. {item.reason}" for number, item in enumerate(picked, 1))
            paper.data("why these screenshots may matter", reasons).note("The screenshots, in order:")
            for item in picked:
                paper.picture(case.picture(item.frame))
        return paper

    details: dict[str, Json] = {
        "key_points": points,
        "scores": [parsers.frame_score(reply, options.parsing) for reply in replies],
        "selected": [item.frame.number for item in picked],
    }
    if by_point:
        return await _point_by_point(ledger, models, options, points, verdict_sheet, details)
    reply = await ledger.text(
        models.outcome, Question("webjudge.verdict", words=f"{kind}_verdict"), lambda: verdict_sheet(points)
    )
    return Opinion(parsers.status(reply, options.parsing), details=details)


async def _point_by_point(
    ledger: Ledger,
    models: Models,
    options: Options,
    points: str,
    sheet: Callable[[str], PromptBuilder],
    details: dict[str, Json],
) -> Opinion:
    """Every key point has a verdict of its own, and all of them must be met."""
    listed = parsers.numbered(points)
    replies = await gather_all(
        (
            ledger.text(
                models.outcome, Question("webjudge.point", f"{number:02d}", "webjudge_point"), partial(sheet, point)
            )
            for number, point in enumerate(listed, 1)
        )
    )
    met = [parsers.status(reply, options.parsing) for reply in replies]
    findings = [
        Finding(
            check="key_point",
            status="abstain" if one is None else "pass" if one else "fail",
            message=point,
            code="key_point",
        )
        for point, one in zip(listed, met, strict=True)
    ]
    share = Aspect(value=sum(one is True for one in met) / len(met) if met else None)
    success = None if not met else False if False in met else None if None in met else True
    return Opinion(success, {"key_points_met": share}, findings, details, "A key point got no verdict.")


def _input_images(case: Case) -> tuple[Image, ...]:
    kept = case.trajectory.provenance.get("input_images") or ()
    refs = [BlobRef.model_validate(item) for item in kept]
    return tuple(Image(case.blobs.read(ref), ref.media_type) for ref in refs)


# --- NNetNav --------------------------------------------------------------------------------------------


async def _nnetnav(case: Case, ledger: Ledger, models: Models, options: Options) -> Opinion:
    pages = [step.seen for step in case.trajectory.steps]
    if case.trajectory.last_seen is not None:
        pages.append(case.trajectory.last_seen)
    trees = [case.blobs.read(page.tree).decode("utf-8", "replace") if page.tree else None for page in pages]
    if len(trees) < 2 or None in trees:
        return Opinion(None, why_not="An accessibility tree of every page is needed.")
    actions = [describe_step(step, 0) for step in case.trajectory.steps]

    async def change(i: int) -> str:
        def sheet() -> PromptBuilder:
            paper = (
                PromptBuilder().data("page before", (trees[i] or "")[: options.tree_limit]).data("action", actions[i])
            )
            return paper.data("page after", (trees[i + 1] or "")[: options.tree_limit])

        return await ledger.text(models.relevance, Question("nnetnav.change", f"{i + 1:04d}", "nnetnav_change"), sheet)

    told = await gather_all(change(i) for i in range(len(trees) - 1))
    changes = [reply.split("State change:")[-1].strip() for reply in told]
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(changes, 1))
    reply = await ledger.text(
        models.outcome,
        Question("nnetnav.reward", words="nnetnav_reward"),
        lambda: PromptBuilder().data("goal", case.goal.instruction).data("changes", listed),
    )
    reward = parsers.reward(reply)
    optimality = None if reward is None else {1: 1, 2: 1, 3: 2, 4: 3, 5: 4}[reward]
    return Opinion(
        None if reward is None else reward >= 4,
        {"reward": Aspect(value=reward), "optimality": Aspect(value=optimality)},
        details={"changes": list(changes)},
    )


# --- AgentRewardBench's simplified judge ----------------------------------------------------------------


async def _agentrewardbench(case: Case, ledger: Ledger, models: Models, options: Options) -> Opinion:
    last = case.trajectory.last_seen or (case.trajectory.steps[-1].seen if case.trajectory.steps else None)
    picture = _last_picture(case) if options.state in ("screenshot", "both") else None
    wants_tree = options.state in ("tree", "both")
    tree = case.blobs.read(last.tree).decode("utf-8", "replace") if wants_tree and last and last.tree else ""
    if (options.state in ("screenshot", "both") and picture is None) or (wants_tree and not tree):
        return Opinion(None, why_not=f"The last page was not recorded as {options.state}.")

    def sheet() -> PromptBuilder:
        steps = [
            f"Step: {step.index + 1}\nURL: {step.seen.url}\n"
            f"Action: {'; '.join(action.text for action in step.actions) or step.action_text}\n"
            f"Reasoning: {step.thought}"
            for step in case.trajectory.steps
        ]
        paper = PromptBuilder().data("goal", case.goal.instruction).data("steps", "\n-----\n".join(steps) or "(none)")
        if tree:
            paper.data("accessibility tree of the last page", tree[: options.tree_limit])
        if picture is not None:
            paper.note("The last page:").picture(picture)
        return paper.note("Think, then answer with the tags that you were told to use.")

    system = "agentrewardbench_inverted" if options.inverted else "agentrewardbench"
    reply = await ledger.text(models.outcome, Question("agentrewardbench", words=system), sheet)
    said = parsers.tags(reply, ("reasoning", "success", "side", "optimal", "loop"))
    success = parsers.yes_or_no(said.get("success"))
    if success is None and options.parsing == "as-published":
        success = False
    return Opinion(
        success,
        {
            "side_effects": Aspect(value=parsers.yes_or_no(said.get("side"))),
            "optimality": Aspect(value=parsers.optimality(said.get("optimal"))),
            "loop": Aspect(value=parsers.yes_or_no(said.get("loop"))),
        },
        details=dict(said),
    )


# --- by name --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """One judge: how it comes to its opinion, in which words, and what about it is not an option."""

    name: str
    opine: Opine
    prompts: tuple[str, ...]
    fixed: Mapping[str, object] = field(default_factory=dict)

    def settled(self, options: Options) -> Options:
        return Options(**{**asdict(options), **self.fixed})

    def fingerprint(self, models: Models, options: Options) -> Fingerprint:
        return fingerprint(self.name, models, self.prompts, asdict(self.settled(options)))

    async def judge(
        self,
        goal: Goal,
        trajectory: Trajectory,
        blobs: Blobs,
        models: Models,
        *,
        options: Options = DEFAULTS,
        limit: asyncio.Semaphore | None = None,
    ) -> Verdict:
        options = self.settled(options)
        asked = models.with_settings(Settings(temperature=options.temperature, seed=options.seed))
        ledger = Ledger(limit=limit)
        case = Case.of(goal, trajectory, blobs, max_side=options.max_side)
        opinion = Opinion(None)
        fault: Fault | None = trajectory.ending.fault if trajectory.ending.kind == "fault" else None
        if fault is None:
            try:
                opinion = await self.opine(case, ledger, asked, options)
            except ModelError as error:
                fault = Fault.of(error)
        status: Status = "abstain" if opinion.success is None else "pass" if opinion.success else "fail"
        findings = list(opinion.findings)
        if fault is not None:
            findings.append(Finding(check=self.name, status="fault", message=fault.message, code="fault"))
        elif opinion.success is None:
            reason = opinion.why_not or "The reply holds no verdict."
            findings.append(Finding(check=self.name, status="abstain", message=reason, code="no_verdict"))
        return Verdict(
            trajectory_id=trajectory.id,
            task_id=trajectory.task_id,
            status="fault" if fault is not None else status,
            aspects={"outcome": Aspect(value=opinion.success), **opinion.aspects},
            findings=tuple(findings),
            fingerprint=self.fingerprint(models, options),
            replies={"calls": dict(sorted(ledger.calls.items())), **opinion.details},
            cost_usd=ledger.usage.cost_usd,
            fault=fault,
        )


_WEBJUDGE = ("webjudge_key_points", "webjudge_frame", "webjudge_verdict")
_GENERAL = ("webjudge_key_points", "webjudge_general_frame", "webjudge_general_verdict")
_POINTS = ("webjudge_key_points", "webjudge_frame", "webjudge_point")
_ARB = ("agentrewardbench", "agentrewardbench_inverted")

_KINDS: dict[str, _Kind] = {
    kind.name: kind
    for kind in (
        _Kind("webvoyager", _webvoyager, ("webvoyager",)),
        _Kind("webjudge", _webjudge, _WEBJUDGE),
        _Kind("webjudge-general", partial(_webjudge, general=True), _GENERAL),
        _Kind("webjudge-points", partial(_webjudge, by_point=True), _POINTS),
        _Kind("agenttrek", _agenttrek, ("agenttrek",)),
        _Kind("autonomous-vision", partial(_autonomous, caption=False), ("autonomous",)),
        _Kind("autonomous-caption", partial(_autonomous, caption=True), ("autonomous", "caption")),
        _Kind("nnetnav", _nnetnav, ("nnetnav_change", "nnetnav_reward")),
        *(
            _Kind(f"agentrewardbench-{state}", _agentrewardbench, _ARB, {"state": state})
            for state in ("tree", "screenshot", "both", "none")
        ),
    )
}

JUDGES: dict[str, Judge] = {name: kind.judge for name, kind in _KINDS.items()}
"""Every judge by the name that the command line knows it by."""


def fingerprint_of(name: str, models: Models, options: Options) -> Fingerprint:
    """Known before anything is asked, so that what is judged already can be left out."""
    return _KINDS[name].fingerprint(models, options)
