"""Chores in the depot."""

from typing import Self

from webassay.arena.kit.chores import SiteChores, Subject, UnaskedChange
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, fact, shown
from webassay.arena.kit.template import Parts, Retrieve
from webassay.arena.kit.walking import answer, click, done, fill, groups, text_of
from webassay.core.interaction import Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import World
from webassay.sites.rng import Stream


class ParcelsOnShelf(Retrieve):
    """Count the parcels on a shelf."""

    name = "depot.parcels-on-shelf"
    chore = "calculation"
    levels = ("easy",)
    instruction = "How many parcels lie on the shelf {shelf}?"
    misread = {"every-shelf": {"shelf": "%"}}

    shelf: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(stream.choice(("Amber", "Birch", "Cedar")))

    def end(self, world: World) -> Parts:
        parcels = world.rows("SELECT code FROM parcels WHERE shelf LIKE ?", self.shelf)
        yield Key.answer(len(parcels))
        yield Key.seen_share(1.0, [fact(shown(f"{parcel['code']}, shelf {self.shelf}")) for parcel in parcels])
        yield Key.checkpoint("the list", PagePattern(site="depot", path="/parcels"))
        yield Effort(rows=len(parcels), pages=1, steps=2)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Parcels")
        return answer(sum(text_of(inside).endswith(f"shelf {self.shelf}") for inside in groups(page, "listitem")))


def _leave_note(page: Observation) -> Walk:
    page = yield from fill(page, "textbox", "Note", "I was here.")
    yield from click(page, "button", "Leave Note")
    return done("mutate")


CHORES = SiteChores(
    name="depot",
    summary="Parcels on shelves.",
    log_in_heading="Depot Members",
    subjects={"shelf": Subject(r"the shelf \{shelf\}", "the shelf")},
    unasked=(UnaskedChange("leave-a-note", False, _leave_note),),
)
