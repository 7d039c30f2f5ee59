"""Chores in the depot."""

from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.chores import SiteChores, Subject, UnaskedChange
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, fact, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Template, Worlds
from webassay.arena.kit.walking import answer, click, done, fill, groups, text_of
from webassay.core.interaction import Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class ParcelsOnShelf(Template):
    """Count the parcels on a shelf."""

    name = "depot.parcels-on-shelf"
    sites = ("depot",)
    kind = "retrieve"
    chore = "calculation"
    levels = ("easy",)
    instruction = "How many parcels lie on the shelf {shelf}?"

    shelf: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self:
        return cls(stream.choice(("Amber", "Birch", "Cedar")))

    def parcels(self, worlds: Worlds) -> list[Row]:
        return worlds["depot"].rows("SELECT code FROM parcels WHERE shelf = ?", self.shelf)

    def key(self, worlds: Worlds) -> Key:
        parcels = self.parcels(worlds)
        facts = [fact(shown(f"{parcel['code']}, shelf {self.shelf}")) for parcel in parcels]
        opened = Key.checkpoint("the list", PagePattern(site="depot", path="/parcels"))
        return Key.answer(len(parcels)) & Key.seen_share(1.0, facts) & opened

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"every-shelf": Key.answer(worlds["depot"].scalar("SELECT count(*) FROM parcels"))}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=len(self.parcels(worlds)), pages=1, steps=2)

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
