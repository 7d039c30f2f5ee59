"""A template: counting products."""

from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Parts, Retrieve, fair, first_page
from webassay.arena.kit.walking import answer, choose, click
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import World
from webassay.sites.rng import Stream


class CheapProducts(Retrieve):
    """Count the products of a category below a price."""

    name = "shop.cheap-products"
    chore = "massive_memory"
    instruction = "How many products in {shelf} cost less than ${limit} today? Answer with one number."
    levels = ("medium", "hard")
    misread = {"first-page-only": {"first": 12}, "price-ignored": {"limit": 10**6}}
    ways = {"sorted-by-price": {"by_price": True}}

    shelf: str
    path: str
    limit: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(*queries.place(world, stream, 15, 60), stream.choice((20, 30, 50, 80)))

    def end(self, world: World, *, first: int = 0) -> Parts:
        products = first_page(queries.products(world, self.path), first)
        cheap = [one for one in products if one["price_cents"] < self.limit * 100]
        yield fair(len(cheap) >= 3)
        yield Key.answer(len(cheap))
        yield facts.seen([facts.priced(one) for one in cheap])
        on_pages = pages_of(len(products), pages.PRODUCTS_ON_A_PAGE)
        yield Effort(rows=len(products), pages=on_pages, steps=5 + on_pages)

    def solve(self, page: Observation, *, by_price: bool = False) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        if by_price:
            page = yield from choose(page, "Sort By", "Price")
        cards = pages.cards(page)
        while page.find("link", "Next") is not None and not (by_price and cards[-1].cents >= self.limit * 100):
            page = yield from click(page, "link", "Next")
            cards += pages.cards(page)
        return answer(sum(card.cents < self.limit * 100 for card in cards))
