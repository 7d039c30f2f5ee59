"""The chores of the board: a template that is played on it and on the arena's start page with its calculator, and what
the arena has to know of the site."""

from typing import Self

from webassay.arena.kit.chores import SiteChores, UnaskedChange
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, fair
from webassay.arena.kit.walking import click, done, fill, need
from webassay.core.interaction import Action, Observation, Walk
from webassay.sites.kit import World
from webassay.sites.rng import Stream


class SellCheaper(Mutate):
    """Pin a notice with a price that has to be worked out."""

    name = "board.sell-cheaper"
    sites = ("board", "home")
    chore = "calculation"
    instruction = (
        'I paid ${dollars} for my sofa and want to sell it for {percent}% less. Pin the notice "Sofa for $PRICE", with'
        " the new price in dollars and cents. The contact is {contact}. The start page has a calculator."
    )

    dollars: int
    percent: int
    contact: str

    @classmethod
    def draw(cls, board: World, home: World, stream: Stream) -> Self:
        return cls(stream.between(101, 899), stream.choice((15, 35, 45)), stream.choice(("Ada", "Ben", "Cleo")))

    def end(self, board: World, home: World) -> Parts:
        cents = self.dollars * (100 - self.percent)
        yield fair(cents % 10)  # Else two decimals would be a trap.
        yield Key.insert(
            "notices", site="board", title=f"Sofa for ${cents // 100}.{cents % 100:02}", contact=self.contact
        )
        yield Effort(rows=1, pages=2, steps=10)

    def solve(self, page: Observation) -> Walk:
        page = yield Action.of("tab_focus", 1)
        page = yield from click(page, "link", "Calculator")
        page = yield from fill(page, "textbox", "Expression", f"{self.dollars} - {self.percent}%")
        page = yield from click(page, "button", "Calculate")
        result = page.nodes[page.nodes.index(need(page, "status", "Result")) + 1].name
        page = yield Action.of("tab_focus", 0)
        page = yield from fill(page, "textbox", "Notice", f"Sofa for ${result}")
        page = yield from fill(page, "textbox", "Contact", self.contact)
        yield from click(page, "button", "Pin")
        return done("mutate")


def _pin_a_notice(page: Observation) -> Walk:
    page = yield from fill(page, "textbox", "Notice", "Umbrella found")
    page = yield from fill(page, "textbox", "Contact", "Ada")
    yield from click(page, "button", "Pin")
    return done("mutate")


CHORES = SiteChores(
    name="board",
    summary="Pinning notices.",
    unasked=(UnaskedChange("pin-a-notice", binding=False, walk=_pin_a_notice),),
)
