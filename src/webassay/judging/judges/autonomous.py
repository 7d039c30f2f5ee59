"""Autonomous Evaluation and Refinement: the actions, the answer and the last page, as a picture or described."""

from dataclasses import dataclass
from functools import partial

from webassay.judging import parsers
from webassay.judging.case import Case, PromptBuilder
from webassay.judging.judges.base import (
    LastPictureOptions,
    ModelJudge,
    Opinion,
    action_list,
    add_last_pictures,
    has_picture,
    last_picture_name,
)
from webassay.judging.ledger import JudgeQuestion, Ledger, Models
from webassay.judging.parsers import Parsing


@dataclass(frozen=True, slots=True)
class AutonomousOptions(LastPictureOptions):
    parsing: Parsing = "robust"
    """How the reply is read; as-published repeats the mistakes of the authors' script."""


async def _opine(case: Case, ledger: Ledger, models: Models, options: AutonomousOptions, *, caption: bool) -> Opinion:
    if not has_picture(case):
        return Opinion(None, why_not="There is no screenshot of the last page.")
    described = ""
    if caption:
        described = await ledger.text(
            models.relevance,
            JudgeQuestion("caption"),
            lambda: add_last_pictures(PromptBuilder(), case, options.last_images),
        )

    def build() -> PromptBuilder:
        builder = PromptBuilder().data("intent", case.goal.instruction).data("actions", action_list(case))
        builder.data("response of the agent", case.answer)
        if caption:
            return builder.data(f"{last_picture_name(case)}, described", described)
        return add_last_pictures(builder, case, options.last_images)

    reply = await ledger.text(models.outcome, JudgeQuestion("autonomous"), build)
    return Opinion(parsers.status(reply, options.parsing), details={"caption": described} if caption else {})


def _judge(name: str, summary: str, *, caption: bool) -> ModelJudge[AutonomousOptions]:
    return ModelJudge(
        name=name,
        summary=summary,
        version="3",
        options=AutonomousOptions,
        as_published=AutonomousOptions(parsing="as-published", temperature=0.0, seed=42),
        sample_reply="Thoughts: x\nStatus: failure",
        opine=partial(_opine, caption=caption),
        asks=("autonomous", "caption") if caption else ("autonomous",),
    )


VISION = _judge(
    "autonomous-vision", "Autonomous Evaluation: the actions and the last page, as a picture.", caption=False
)
CAPTION = _judge("autonomous-caption", "Autonomous Evaluation: the actions and the last page, described.", caption=True)
