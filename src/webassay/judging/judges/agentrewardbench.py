"""AgentRewardBench's simplified judge: all steps and the last page, four questions in one reply.

Four judges differ in what they show of the last page.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from webassay.core.verdict import Aspect
from webassay.judging.case import Case, PromptBuilder, acted_in, on_one_line
from webassay.judging.judges.base import LastPictureOptions, ModelJudge, Opinion, add_last_pictures, has_picture
from webassay.judging.ledger import JudgeQuestion, Ledger, Models
from webassay.judging.parsers import Parsing

LastPage = Literal["tree", "screenshot", "both", "none"]

_YES = {"yes", "successful", "success", "true"}
_NO = {"no", "unsuccessful", "failure", "fail", "failed", "false"}
_OPTIMALITY = (
    (1, re.compile(r"(?<!\bno )(?<!\bnot a )failure")),
    (2, re.compile(r"\bsub\W?optimal")),
    (3, re.compile("somewhat")),
    (2, re.compile(r"(?:\bnot|\bnon|n['’]t|\bless than|\bfar from)\W+(?:\w+\W+){0,2}optimal")),
    (4, re.compile("optimal")),
)
"""In this order: what is somewhat optimal may be said not to be completely so."""


@dataclass(frozen=True, slots=True)
class AgentRewardBenchOptions(LastPictureOptions):
    parsing: Parsing = "robust"
    """as-published: a reply without a verdict is a failure, as in the authors' script."""
    inverted: bool = False
    """Ask for success last instead of first."""
    tree_limit: int = 40_000
    """Characters shown of the accessibility tree."""


async def _opine(
    case: Case, ledger: Ledger, models: Models, options: AgentRewardBenchOptions, *, shows: LastPage
) -> Opinion:
    last = case.trajectory.last_seen or (case.trajectory.steps[-1].seen if case.trajectory.steps else None)
    wants_picture, wants_tree = shows in ("screenshot", "both"), shows in ("tree", "both")
    tree = case.blobs.read(last.tree).decode("utf-8", "replace") if wants_tree and last and last.tree else ""
    if (wants_picture and not has_picture(case)) or (wants_tree and not tree):
        return Opinion(None, why_not=f"The last page was not recorded as {shows}.")

    def build() -> PromptBuilder:
        steps = [
            f"Step: {step.index + 1}\nURL: {on_one_line(step.seen.url)}\n"
            f"Action: {acted_in(step)}\n"
            f"Reasoning: {on_one_line(step.thought)}"
            for step in case.trajectory.steps
        ]
        builder = PromptBuilder().data("goal", case.goal.instruction).data("steps", "\n-----\n".join(steps) or "(none)")
        if tree:
            builder.data("accessibility tree of the last page", tree[: options.tree_limit])
        if wants_picture:
            add_last_pictures(builder, case, options.last_images)
        return builder.note("Think, then answer with the tags that you were told to use.")

    chosen = "agentrewardbench_inverted" if options.inverted else "agentrewardbench"
    reply = await ledger.text(models.outcome, JudgeQuestion("agentrewardbench", prompt=chosen), build)
    said = read_tags(reply, ("reasoning", "success", "side", "optimal", "loop"))
    success = read_yes_or_no(said.get("success"))
    if success is None and options.parsing == "as-published":
        success = False
    return Opinion(
        success,
        {
            "side_effects": Aspect(value=read_yes_or_no(said.get("side"))),
            "optimality": Aspect(value=read_optimality(said.get("optimal"))),
            "loop": Aspect(value=read_yes_or_no(said.get("loop"))),
        },
        details=dict(said),
    )


def read_tags(text: str, names: Sequence[str]) -> dict[str, str]:
    """`<name>value</name>`, the last of each."""
    values = {}
    for name in names:
        # Nothing is searched beyond the last closing tag, where every opening one would be followed to the end.
        end = max((closing.end() for closing in re.finditer(f"</{name}>", text, re.IGNORECASE)), default=0)
        found = re.findall(rf"<{name}>(.*?)</{name}>", text[:end], re.IGNORECASE | re.DOTALL)
        if found:
            values[name] = found[-1].strip()
    return values


def read_yes_or_no(text: str | None) -> bool | None:
    word = re.match(r"\W*([a-z]+)", (text or "").lower())
    if word is None or word[1] not in _YES | _NO:
        return None
    return word[1] in _YES


def read_optimality(text: str | None) -> int | None:
    """1 complete failure, 2 suboptimal, 3 somewhat optimal, 4 completely optimal; by number or by words."""
    said = (text or "").lower()
    digit = re.match(r"\W*([1-4])\b", said)
    if digit:
        return int(digit[1])
    return next((value for value, words in _OPTIMALITY if words.search(said)), None)


def _judge(shows: LastPage, described: str) -> ModelJudge[AgentRewardBenchOptions]:
    return ModelJudge(
        name=f"agentrewardbench-{shows}",
        summary=f"AgentRewardBench: all steps, and {described}.",
        version="3",
        options=AgentRewardBenchOptions,
        as_published=AgentRewardBenchOptions(parsing="as-published", temperature=0.0, seed=42),
        sample_reply="<success>No</success><side>No</side><optimal>2</optimal><loop>No</loop>",
        opine=partial(_opine, shows=shows),
        asks=("agentrewardbench", "agentrewardbench_inverted"),
    )


JUDGES = (
    _judge("tree", "the last page as an accessibility tree"),
    _judge("screenshot", "the last page as a screenshot"),
    _judge("both", "the last page as a tree and a screenshot"),
    _judge("none", "nothing of the last page"),
)
