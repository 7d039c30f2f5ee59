"""WebJudge (Online-Mind2Web): key points of the task, a score for every screenshot, a verdict on the best of them.

`webjudge-general` also sees pictures that belong to the task, and the agent's reasons. `webjudge-points` asks for each
key point alone and needs all of them: the paper describes it, the published code lacks it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from webassay.core.record import Json
from webassay.core.trajectory import BlobRef
from webassay.core.verdict import Aspect, Finding
from webassay.judging import parsers
from webassay.judging.case import Case, CaseFrame, PromptBuilder, on_one_line
from webassay.judging.judges.base import ModelJudge, Opinion, PictureOptions, action_list
from webassay.judging.ledger import JudgeQuestion, Ledger, Models, gather_all
from webassay.judging.parsers import DRESS, LEAD, Parsing, tidy
from webassay.llm.client import Image

_SCORE = re.compile(rf"(?:{LEAD}|\b)score{DRESS}[:=]?{DRESS}([1-5])(?![\d.]*\d)", re.IGNORECASE | re.MULTILINE)
_KEY_POINTS_HEADING = re.compile(r"^[^\w\n]*key points[*_ ]*(?:$|:[*_ ]*)", re.IGNORECASE | re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:\d+[.):]|[-*•])\s+(.*)")


@dataclass(frozen=True, slots=True)
class WebJudgeOptions(PictureOptions):
    parsing: Parsing = "robust"
    """How replies are read; as-published repeats the mistakes of the authors' script."""
    threshold: int = 3
    """Screenshots with at least this score are shown for the verdict; 0 shows all of them."""
    max_images: int = 50
    """At most this many of them, the first ones; 0 sets no bound."""


@dataclass(frozen=True, slots=True)
class _Variant:
    frame: str
    """The name of a prompt, as the next."""
    verdict: str
    general: bool = False
    """Shows the task's own pictures and the agent's reasons."""
    by_point: bool = False
    """One verdict per key point."""


@dataclass(frozen=True, slots=True)
class Picked:
    frame: CaseFrame
    score: int
    reason: str


async def _opine(case: Case, ledger: Ledger, models: Models, options: WebJudgeOptions, *, variant: _Variant) -> Opinion:
    inputs = _task_pictures(case) if variant.general else ()

    def task_prompt() -> PromptBuilder:
        builder = PromptBuilder().data("task", case.goal.instruction)
        for image in inputs:
            builder.note("A picture that belongs to the task:").picture(image)
        return builder

    listed = await ledger.text(
        models.rubric, JudgeQuestion("webjudge.key_points", prompt="webjudge_key_points"), task_prompt
    )
    points = read_key_points(listed, options.parsing)
    shots = [frame for frame in case.frames if frame.screenshot]

    async def look(frame: CaseFrame) -> str:
        def build() -> PromptBuilder:
            return task_prompt().data("key points", points).note("The screenshot:").picture(case.picture(frame))

        question = JudgeQuestion("webjudge.frame", f"{frame.number:04d}", variant.frame)
        return await ledger.text(models.relevance, question, build)

    replies = await gather_all(look(frame) for frame in shots)
    picked = pick(shots, replies, options)

    def verdict_prompt(point: str) -> PromptBuilder:
        builder = task_prompt().data("key point" if variant.by_point else "key points", point)
        builder.data("actions", action_list(case, reasons=variant.general))
        if picked:
            reasons = "\n".join(f"{number}. {on_one_line(item.reason)}" for number, item in enumerate(picked, 1))
            builder.data("why these screenshots may matter", reasons).note("The screenshots, in order:")
            for item in picked:
                builder.picture(case.picture(item.frame))
        return builder

    details: dict[str, Json] = {
        "key_points": points,
        "scores": [read_score(reply, options.parsing) for reply in replies],
        "selected": [item.frame.number for item in picked],
    }
    asked = list(read_list(points)) if variant.by_point else [points]
    stage = "webjudge.point" if variant.by_point else "webjudge.verdict"
    said = await gather_all(
        ledger.text(
            models.outcome,
            JudgeQuestion(stage, f"{number:02d}" if variant.by_point else "", variant.verdict),
            partial(verdict_prompt, point),
        )
        for number, point in enumerate(asked, 1)
    )
    met = [parsers.status(reply, options.parsing) for reply in said]
    return _by_point(asked, met, details) if variant.by_point else Opinion(met[0], details=details)


def _by_point(points: Sequence[str], met: Sequence[bool | None], details: dict[str, Json]) -> Opinion:
    """All key points must be met."""
    findings = [
        Finding(
            check="key_point",
            status="abstain" if one is None else "pass" if one else "fail",
            message=point,
            code="key_point",
        )
        for point, one in zip(points, met, strict=True)
    ]
    share = Aspect(value=sum(one is True for one in met) / len(met) if met else None)
    success = None if not met else False if False in met else None if None in met else True
    return Opinion(success, {"key_points_met": share}, findings, details, "A key point got no verdict.")


def _task_pictures(case: Case) -> tuple[Image, ...]:
    kept = case.trajectory.provenance.get("input_images") or ()
    refs = [BlobRef.model_validate(item) for item in kept]
    return tuple(Image(case.blobs.read(ref), ref.media_type) for ref in refs)


def pick(frames: Sequence[CaseFrame], replies: Sequence[str], options: WebJudgeOptions) -> tuple[Picked, ...]:
    """The screenshots that the verdict gets to see, in order of time."""
    scored = [
        Picked(frame, read_score(reply, options.parsing), read_reason(reply))
        for frame, reply in zip(frames, replies, strict=True)
    ]
    return tuple(item for item in scored if item.score >= options.threshold)[: options.max_images or None]


# --- reading replies ------------------------------------------------------------------------------------


def read_score(text: str, parsing: Parsing = "robust") -> int:
    """1 to 5; 0 if no score can be read, so that the picture is left out."""
    if parsing == "as-published":
        parts = text.split("Score")
        digits = re.findall(r"[1-5]", parts[1]) if len(parts) > 1 else []
        return int(digits[0]) if digits else 0
    scores = _SCORE.findall(tidy(text))
    return int(scores[-1]) if scores else 0


def read_reason(text: str) -> str:
    """What stands between the words Reasoning and Score, on one line."""
    text = tidy(text)
    found = re.search(rf"reasoning{DRESS}:?{DRESS}(.*?)(?={LEAD}score|\Z)", text, re.I | re.S | re.M)
    body = found[1] if found else text
    return " ".join(body.strip(" \n*#").split())


def read_key_points(text: str, parsing: Parsing = "robust") -> str:
    """The list after the heading `Key Points`, or the whole reply if there is neither."""
    if parsing == "as-published":
        listed = re.split(r"(?i)(?<!\*)\**key points\**\s*:?\**", text, maxsplit=1)[-1]
    else:
        text = tidy(text)
        listed = "\n".join(_KEY_POINTS_HEADING.split(text)[1:]) or text
    lines = [line.lstrip() for line in listed.strip().splitlines()]
    first = next((at for at, line in enumerate(lines) if _ITEM.match(line)), 0) if parsing == "robust" else 0
    return "\n".join(lines[first:])


def read_list(text: str) -> tuple[str, ...]:
    """The points of a numbered or bulleted list, each on one line. A text without a list is one point."""
    points: list[str] = []
    for line in text.splitlines():
        item = _ITEM.match(line)
        if item:
            points.append(item[1].strip())
        elif points and line.strip():
            points[-1] += " " + line.strip()
    points = points or [" ".join(text.split())]
    return tuple(point.strip("* ") for point in points if point.strip("* "))


# --- the three judges -----------------------------------------------------------------------------------


def _judge(name: str, summary: str, variant: _Variant) -> ModelJudge[WebJudgeOptions]:
    return ModelJudge(
        name=name,
        summary=summary,
        version="3",
        options=WebJudgeOptions,
        as_published=WebJudgeOptions(parsing="as-published", temperature=0.0, seed=42),
        sample_reply="Key Points:\n1. a\n2. b\n3. c\n4. d\n### Reasoning: x\n### Score: 3\nStatus: failure\n",
        opine=partial(_opine, variant=variant),
        asks=("webjudge_key_points", variant.frame, variant.verdict),
    )


JUDGES = (
    _judge(
        "webjudge",
        "WebJudge: key points, and the screenshots that matter for them.",
        _Variant("webjudge_frame", "webjudge_verdict"),
    ),
    _judge(
        "webjudge-general",
        "WebJudge for any task: also the task's pictures and the agent's reasons.",
        _Variant("webjudge_general_frame", "webjudge_general_verdict", general=True),
    ),
    _judge(
        "webjudge-points",
        "WebJudge point by point: every key point must be met.",
        _Variant("webjudge_frame", "webjudge_point", by_point=True),
    ),
)
