"""An agent with a setting: follows the first link, then answers from the row that the goal names."""

import json
import re
from dataclasses import dataclass

from webassay.agents.base import AgentFactory, AgentRequest
from webassay.core.interaction import Action, Decision, Goal, Observation


@dataclass(frozen=True)
class Options:
    column: int = 2
    """Which column of the table holds the answer, counted from 1."""


class TableReader:
    wants = ("tree",)

    def __init__(self, request: AgentRequest) -> None:
        self.name = request.name
        self.settings = {"column": request.options.column}

    async def start(self, goal: Goal) -> None:
        found = re.search(r'"(.+?)"', goal.instruction)
        self.title = found[1] if found else ""

    async def decide(self, page: Observation) -> Decision:
        cells = [node.name for node in page.find_all("cell")]
        if self.title in cells:
            value = cells[cells.index(self.title) + self.settings["column"] - 1]
            return Decision.answer(json.dumps({"action": "retrieve", "status": "SUCCESS", "results": [value]}))
        link = page.find("link")
        if link is None:
            return Decision.answer(json.dumps({"action": "retrieve", "status": "NOT_FOUND_ERROR", "results": None}))
        return Decision(actions=(Action.of("click", link.id),))


TABLE_READER = AgentFactory("table-reader", "Answers from a table on the page.", TableReader, options=Options)
