"""AgentTrek's judge: every thought and action, and the last page."""

from dataclasses import dataclass

from webassay.judging import parsers
from webassay.judging.case import Case, PromptBuilder, acted_in, on_one_line
from webassay.judging.judges.base import LastPictureOptions, ModelJudge, Opinion, add_last_pictures
from webassay.judging.ledger import JudgeQuestion, Ledger, Models
from webassay.judging.parsers import Parsing


@dataclass(frozen=True, slots=True)
class AgentTrekOptions(LastPictureOptions):
    parsing: Parsing = "robust"
    """How the reply is read; as-published repeats the mistakes of the authors' script."""


async def _opine(case: Case, ledger: Ledger, models: Models, options: AgentTrekOptions) -> Opinion:
    def build() -> PromptBuilder:
        steps = []
        for number, step in enumerate(case.trajectory.steps, 1):
            acted, thought = acted_in(step), on_one_line(step.thought)
            if acted or thought:
                steps.append(f"Thought {number}: {thought}\nAction {number}: {acted}")
        builder = PromptBuilder().data("goal", case.goal.instruction)
        builder.data("trajectory", "\n\n".join(steps) or "(empty)")
        return add_last_pictures(builder, case, options.last_images)

    reply = await ledger.text(models.outcome, JudgeQuestion("agenttrek"), build)
    return Opinion(parsers.status(reply, options.parsing))


AGENTTREK = ModelJudge(
    name="agenttrek",
    summary="AgentTrek: every thought and action, and the last page.",
    version="3",
    options=AgentTrekOptions,
    as_published=AgentTrekOptions(parsing="as-published", temperature=0.0, seed=42),
    sample_reply="Thoughts: x\nStatus: failure",
    opine=_opine,
    asks=("agenttrek",),
)
