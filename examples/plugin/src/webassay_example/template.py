"""A template: counting products."""

from dataclasses import dataclass
from typing import Self

from webassay.benchmarks.arena.key import Key
from webassay.benchmarks.arena.shop import pages, queries
from webassay.benchmarks.arena.template import Template, Worlds
from webassay.benchmarks.arena.walking import answer
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import World
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class CheapProducts(Template):
    """Count the products of a category below a price."""

    name = "shop.cheap-products"
    sites = ("shop",)
    kind = "retrieve"
    chore = "massive_memory"
    instruction = "How many products in {shelf} cost less than ${limit}? Answer with one number."

    shelf: str
    path: str
    limit: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        shelf, path = queries.shelf(worlds["shop"], stream, 14, 40)
        drawn = cls(shelf, path, stream.choice((20, 30, 50, 80)))
        return drawn if 3 <= drawn._count(worlds["shop"]) <= 12 else None

    def key(self, worlds: Worlds) -> Key:
        return Key.answer(self._count(worlds["shop"]))

    def _count(self, world: World) -> int:
        return sum(product["price_cents"] < self.limit * 100 for product in queries.shelf_products(world, self.path))

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_shelf(page, self.shelf)
        cards = yield from pages.all_cards(page)
        return answer(sum(card.cents < self.limit * 100 for card in cards))
