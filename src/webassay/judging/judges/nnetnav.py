"""NNetNav's judge: what changed on the page after each action, then a reward from 1 to 5."""

import re
from dataclasses import dataclass

from webassay.core.verdict import Aspect
from webassay.judging.case import Case, PromptBuilder, describe_step, notices_after, on_one_line
from webassay.judging.judges.base import JudgeOptions, ModelJudge, Opinion
from webassay.judging.ledger import JudgeQuestion, Ledger, Models, gather_all
from webassay.judging.parsers import DRESS, LEAD, tidy

_REWARD_LINE = re.compile(rf"(?:{LEAD}|\b)reward{DRESS}[:=]{DRESS}([1-5])(?![\d.]*\d)", re.IGNORECASE | re.MULTILINE)
_OPTIMALITY = {1: 1, 2: 1, 3: 2, 4: 3, 5: 4}


@dataclass(frozen=True, slots=True)
class NNetNavOptions(JudgeOptions):
    tree_limit: int = 40_000
    """Characters shown of each accessibility tree."""


async def _opine(case: Case, ledger: Ledger, models: Models, options: NNetNavOptions) -> Opinion:
    pages = [step.seen for step in case.trajectory.steps]
    if case.trajectory.last_seen is not None:
        pages.append(case.trajectory.last_seen)
    trees = [case.blobs.read(page.tree).decode("utf-8", "replace") if page.tree else None for page in pages]
    if len(trees) < 2 or None in trees:
        return Opinion(None, why_not="An accessibility tree of every page is needed.")
    shown = [(tree or "")[: options.tree_limit] for tree in trees]
    actions = list(map(describe_step, case.trajectory.steps, notices_after(case.trajectory)))

    async def change(i: int) -> str:
        def build() -> PromptBuilder:
            builder = PromptBuilder().data("page before", shown[i]).data("action", actions[i])
            return builder.data("page after", shown[i + 1])

        return await ledger.text(
            models.relevance, JudgeQuestion("nnetnav.change", f"{i + 1:04d}", "nnetnav_change"), build
        )

    told = await gather_all(change(i) for i in range(len(trees) - 1))
    changes = [reply.split("State change:")[-1].strip() for reply in told]
    listed = "\n".join(f"{number}. {on_one_line(text)}" for number, text in enumerate(changes, 1))
    reply = await ledger.text(
        models.outcome,
        JudgeQuestion("nnetnav.reward", prompt="nnetnav_reward"),
        lambda: PromptBuilder().data("goal", case.goal.instruction).data("changes", listed),
    )
    reward = read_reward(reply)
    return Opinion(
        None if reward is None else reward >= 4,
        {"reward": Aspect(value=reward), "optimality": Aspect(value=_OPTIMALITY.get(reward or 0))},
        details={"changes": list(changes)},
    )


def read_reward(text: str) -> int | None:
    found = _REWARD_LINE.findall(tidy(text))
    return int(found[-1]) if found else None


NNETNAV = ModelJudge(
    name="nnetnav",
    summary="NNetNav: what every action changed in the accessibility tree, then a reward.",
    version="3",
    options=NNetNavOptions,
    as_published=NNetNavOptions(temperature=0.0, seed=42),
    sample_reply="Thought: x\nReward: 3",
    opine=_opine,
    asks=("nnetnav_change", "nnetnav_reward"),
)
