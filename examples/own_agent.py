"""Your own agent in ten lines: webassay run --agent examples/own_agent.py:FirstHeading"""

from webassay.core.interaction import Decision


class FirstHeading:
    name = "first-heading"
    wants = ("tree",)

    async def start(self, goal):
        self.goal = goal

    async def decide(self, page):
        heading = page.find("heading")
        return Decision.answer(f'{{"action": "retrieve", "status": "SUCCESS", "results": ["{heading.name}"]}}')
