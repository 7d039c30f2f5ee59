"""What our own code costs an agent's step: everything but the model and the browser.

    python scripts/bench_agents.py [--steps 50] [--lines 1500]

Each agent plays `steps` steps on a page of `lines` lines with a model that answers at once; printed are the
milliseconds of processor time of a step early and late in the episode (not wall time, so other processes do not count).
Prompts grow with the history, so late steps cost more; a time that grows no faster than the prompt means that
building prompts is not quadratic.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from webassay.agents.base import Agent
from webassay.agents.models.computer import POINTER_STYLE
from webassay.agents.models.generic import Generic
from webassay.agents.models.memory import PlanMemory, TableMemory, WindowMemory
from webassay.agents.models.occam import Occam
from webassay.core.interaction import Goal, Observation, ResponseProtocol, Tab
from webassay.llm.client import Message, Model, Reply


class Instant:
    """Answers at once and remembers how much it was asked."""

    name = "instant"

    def __init__(self, answer: Callable[[int], str]) -> None:
        self._answer = answer
        self.lengths: list[int] = []

    async def ask(self, messages: Sequence[Message], **wishes: Any) -> Reply:
        if wishes.get("purpose") == "summary":
            return Reply("A summary of some length. " * 20)
        self.lengths.append(sum(len(message.text) for message in messages))
        return Reply(self._answer(len(self.lengths)))


def tagged(step: int) -> str:
    note = f"Order {step:06} of 4 May costs ${step * 3}.50 and was paid with a card. " * 3
    return f"<think>{'Because of this and that. ' * 10}</think><memory>{note}</memory><action>click('12')</action>"


def tabled(step: int) -> str:
    rows = [{"title": f"Post {step} {n}", "comments": n} for n in range(25)]
    return f"<action>table_add('posts', {rows!r})\nclick('12')</action>"


def planned(step: int) -> str:
    action = f"branch [{step // 10}] [Part {step} of the way]" if step % 10 == 0 else f"note [Found {step}]\nclick [12]"
    return (
        f"OBSERVATION DESCRIPTION:\n{'There is a list. ' * 20}\nREASON:\n{'It is next. ' * 10}\n"
        f"ACTION:\n{action}\nOBSERVATION HIGHLIGHT:\n3, 5, 12"
    )


def pointed(step: int) -> str:
    return f"<memory>Seen {step}.</memory><action>mouse_click(10, {step})</action>"


AGENTS: dict[str, tuple[Callable[[Model], Agent], Callable[[int], str]]] = {
    "generic": (lambda model: Generic(model), tagged),
    "generic + table": (lambda model: Generic(model, memory=TableMemory()), tabled),
    "generic + window": (lambda model: Generic(model, memory=WindowMemory()), tagged),
    "generic + plans": (lambda model: Generic(model, memory=PlanMemory()), tagged),
    "computer": (lambda model: Generic(model, style=POINTER_STYLE), pointed),
    "occam": (lambda model: Occam(model), planned),
}


def observation(step: int, lines: int) -> Observation:
    indent = ["\t" * (n % 6) for n in range(lines)]
    tree = "\n".join(f"{indent[n]}[{n}] link 'Result {n} of a long list on page {step}'" for n in range(lines))
    url = f"http://shop.test/list?page={step}"
    return Observation(
        url=url,
        title="List",
        tabs=(Tab(url, "List"),),
        active_tab=0,
        step=step,
        tree=tree,
        pruned="\n".join(f"{indent[n]}link [{n}] 'Result {n} on page {step}'" for n in range(min(lines, 1000))),
        screenshot=b"\xff\xd8" + bytes(150_000),
    )


async def measure(name: str, steps: int, lines: int) -> None:
    make, answer = AGENTS[name]
    model = Instant(answer)
    agent = make(model)
    protocol = ResponseProtocol(name="free", instructions="Say it in one sentence.")
    await agent.start(Goal(instruction="Add up the list.", start_urls=("http://shop.test/",), protocol=protocol))
    taken: list[float] = []
    for step in range(steps):
        page = observation(step, lines)
        started = time.process_time()
        await agent.decide(page)
        taken.append((time.process_time() - started) * 1000)
    early, late = statistics.median(taken[1:6]), statistics.median(taken[-5:])
    grown = statistics.median(model.lengths[-5:]) / statistics.median(model.lengths[1:6])
    print(
        f"{name:18} {early:8.2f} ms early {late:8.2f} ms late {max(taken[1:]):8.2f} ms worst"
        f"   time x{late / early:.2f}, prompt x{grown:.2f}, {model.lengths[-1]:,} characters"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--lines", type=int, default=1500)
    chosen = parser.parse_args()
    for name in AGENTS:
        asyncio.run(measure(name, chosen.steps, chosen.lines))


if __name__ == "__main__":
    main()
