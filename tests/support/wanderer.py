"""An agent that follows one link after the other, and thinks aloud: long episodes on real pages."""

from webassay.core.interaction import Action, Decision, Goal, Observation

STEPS = 50


class Wanderer:
    name = "wanderer"
    wants = ("tree",)

    async def start(self, goal: Goal) -> None:
        self.followed: set[str] = set()

    async def decide(self, page: Observation) -> Decision:
        fresh = [
            link for link in page.find_all("link") if link.url.startswith("http") and link.url not in self.followed
        ]
        if page.step == STEPS - 1 or not fresh:
            return Decision.answer('{"action": "retrieve", "status": "SUCCESS", "results": ["nobody"]}')
        link = fresh[len(fresh) // 2]
        self.followed.add(link.url)
        thought = f"{len(fresh)} links are new to me on {page.title!r}. I take {link.name!r}, in the middle of them."
        return Decision(
            actions=(Action.of("click", link.id),), thought=thought, memory="\n".join(sorted(self.followed))
        )
