"""What a separate process costs an agent file per step."""

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from scripts.armor.report import Report

from webassay.agents.base import AgentRequest, make_agent
from webassay.agents.cells.cell import ProgramCell, why_not
from webassay.agents.cells.child import ChildAgent, Nursery
from webassay.core.interaction import Goal, Node, Observation, ResponseProtocol, Tab

STEPS = 300
MOST_MS = 5.0
AGENT = """
class Quick:
    name, wants = "quick", ("tree", "screenshot")
    async def start(self, goal): pass
    async def decide(self, page): return "click('12')"
"""


PAGES = {"a page of the shop": (400, 105_000), "a very large page": (2000, 400_000)}
"""Nodes and bytes of the picture. Of the shop's own pages 95 % have at most 370 nodes, and pictures of 102 kB."""


def page(count: int, size: int) -> Observation:
    nodes = tuple(Node(str(n), "link", f"Product {n} with a name of some length", n % 8) for n in range(count))
    tree = "\n".join(f"\t[{node.id}] {node.role} {node.name!r}" for node in nodes)
    return Observation(
        "http://shop/",
        "Shop",
        (Tab("http://shop/", "Shop"),),
        0,
        tree=tree,
        nodes=nodes,
        screenshot=os.urandom(size),
    )


async def measured(agent: ChildAgent, seen: Observation) -> list[float]:
    """Milliseconds of every decision."""
    took = []
    for _ in range(STEPS):
        began = time.perf_counter()
        await agent.decide(seen)
        took.append((time.perf_counter() - began) * 1000)
    return took


async def all_measured() -> tuple[float, dict[str, list[float]]]:
    goal = Goal(instruction="", start_urls=(), protocol=ResponseProtocol(name="free", instructions=""))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "quick.py"
        file.write_text(AGENT)
        nursery = Nursery(f"{file}:Quick", {}, ProgramCell() if not why_not() else None)
        try:
            agent = make_agent(nursery.load(), AgentRequest(name="quick"))
            assert isinstance(agent, ChildAgent)
            began = time.perf_counter()
            await agent.prepare()
            started = (time.perf_counter() - began) * 1000
            await agent.start(goal)
            took = {name: await measured(agent, page(*size)) for name, size in PAGES.items()}
            await agent.stop()
        finally:
            await nursery.close()
    return started, took


def run(report: Report) -> None:
    started, took = asyncio.run(all_measured())
    for name, times in took.items():
        nodes, size = PAGES[name]
        median, high = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        report.say(
            f"a decision on {name} ({nodes} nodes, {size // 1000} kB): median {median:.2f} ms, 95 % {high:.2f} ms"
        )
    first = statistics.median(next(iter(took.values())))
    report.say(
        f"at most {MOST_MS:g} ms a step: {'holds' if first <= MOST_MS else 'TOO SLOW'}; a new process: {started:.0f} ms"
    )
