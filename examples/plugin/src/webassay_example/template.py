"""A template: counting products."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import answer, choose, click
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


@dataclass(frozen=True)
class CheapProducts(Template):
    """Count the products of a category below a price."""

    name = "shop.cheap-products"
    sites = ("shop",)
    kind = "retrieve"
    chore = "massive_memory"
    instruction = "How many products in {shelf} cost less than ${limit} today? Answer with one number."
    levels = ("medium", "hard")

    shelf: str
    path: str
    limit: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        shelf, path = queries.place(worlds["shop"], stream, 15, 60)
        drawn = cls(shelf, path, stream.choice((20, 30, 50, 80)))
        return drawn if len(drawn._cheap(drawn._all(worlds))) >= 3 else None

    def _all(self, worlds: Worlds) -> list[Row]:
        return queries.products(worlds["shop"], self.path)

    def _cheap(self, products: list[Row]) -> list[Row]:
        return [product for product in products if product["price_cents"] < self.limit * 100]

    def key(self, worlds: Worlds) -> Key:
        cheap = self._cheap(self._all(worlds))
        return Key.answer(len(cheap)) & facts.seen([facts.priced(product) for product in cheap])

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        products = self._all(worlds)
        return {
            "first-page-only": Key.answer(len(self._cheap(products[:12]))),
            "price-ignored": Key.answer(len(products)),
        }

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._all(worlds))
        on_pages = pages_of(count, pages.PRODUCTS_ON_A_PAGE)
        return Effort(rows=count, pages=on_pages, steps=5 + on_pages)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        cards = yield from pages.all_cards(page)
        return answer(sum(card.cents < self.limit * 100 for card in cards))

    def routes(self) -> Mapping[str, Route]:
        return {"sorted-by-price": self._sorted}

    def _sorted(self, page: Observation) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        page = yield from choose(page, "Sort By", "Price")
        cards = pages.cards(page)
        while cards[-1].cents < self.limit * 100 and page.find("link", "Next") is not None:
            page = yield from click(page, "link", "Next")
            cards += pages.cards(page)
        return answer(sum(card.cents < self.limit * 100 for card in cards))
