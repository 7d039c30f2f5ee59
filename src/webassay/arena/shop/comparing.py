"""Comparing products: those of a whole department, or those in open tabs."""

from collections.abc import Callable
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, Retrieve, fair, first_page
from webassay.arena.kit.walking import answer, submit
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


class ReviewsBetween(Retrieve):
    """Count the products of a category with so many reviews."""

    name = "shop.reviews-between"
    chore = "massive_memory"
    instruction = "How many products in {shelf} have at least {low} and at most {high} reviews? Answer with the number."
    levels = ("medium", "hard", "extreme")
    misread = {
        "first-page-only": {"first": pages.FEW_PRODUCTS},
        "more-than": {"above": 1},
        "fewer-than": {"below": 1},
        "at-least-only": {"high": 10**6},
        "at-most-only": {"low": 0},
    }
    ways = {"twelve-at-a-time": {"short": True}}

    shelf: str
    path: str
    low: int
    high: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        fewest, most = stream.choice(((15, 59), (60, 199), (361, 800)))
        place = queries.place(world, stream, fewest, most)
        low = stream.choice((4, 5, 6, 8, 10, 12))
        return cls(*place, low, low + stream.choice((4, 6, 8, 10, 15)))

    def end(self, world: World, *, first: int = 0, above: int = 0, below: int = 0) -> Parts:
        listed = first_page(queries.products(world, self.path), first)
        counts = [one["review_count"] for one in listed]
        fitting = [one for one in listed if self.low + above <= one["review_count"] <= self.high - below]
        yield fair(self.low in counts, self.high in counts, len(fitting) >= 3)
        yield Key.answer(len(fitting), unit="products")
        # Sorted by rating, those without reviews come last: nobody has to look at them.
        others = facts.sample([one for one in listed if one not in fitting and one["review_count"]])
        yield facts.seen([facts.reviewed(one) for one in (*fitting, *others)])
        yield Key.checkpoint("category", queries.place_page(self.path))
        count, long = len(listed), pages_of(len(listed), pages.PRODUCTS_ON_A_PAGE)
        yield Effort(rows=count, pages=long, steps=5 + long, longest=5 + pages_of(count, pages.FEW_PRODUCTS))

    def solve(self, page: Observation, *, short: bool = False) -> Walk:
        page = yield from (pages.open_place if short else pages.open_long_place)(page, self.shelf)
        cards = yield from pages.all_cards(page)
        return answer(sum(self.low <= card.reviews <= self.high for card in cards))


def _cost_of_an_ounce(cents: int, ounces: int) -> float:
    return cents / ounces


class CheapestByWeight(Mutate):
    """Put the product with the lowest price for its weight into the cart, out of those in open tabs."""

    name = "shop.cheapest-by-weight"
    chore = "others"
    instruction = (
        "My open tabs show {count} products from {shelf}. Which one has the lowest price per ounce, by the weight on "
        "its product page? Add one of it to my cart. If a product is on sale, its sale price counts."
    )
    levels = ("medium",)
    tags = ("tabs",)
    misread = {
        "lowest-price": {"cost": lambda cents, ounces: cents},
        "first-tab": {"cost": lambda cents, ounces: 0},
    }
    ways = {"last-tab-first": {"last_first": True}}

    user: str
    shelf: str
    count: int
    slugs: tuple[str, ...]

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.without_cart(world, stream, 1, 400)
        shelf, path = queries.place(world, stream, 8, 100, levels=(3,))
        simple = [one for one in queries.products(world, path) if not one["has_options"] and one["stock"] >= 5]
        # All of them are open from the start, so that few would leave little to do but guess.
        count = stream.between(5, 7)
        return cls(user, shelf, count, tuple(one["slug"] for one in stream.sample(simple, count)))

    @property
    def start_pages(self) -> tuple[str, ...]:
        return tuple(f"/p/{slug}" for slug in self.slugs)

    def end(self, world: World, *, cost: Callable[[int, int], float] = _cost_of_an_ounce) -> Parts:
        def measure(product: Row) -> float:
            return cost(product["price_cents"], product["weight_oz"])

        products = [queries.find_products(world, "p.slug = ?", slug)[0] for slug in self.slugs]
        best, second, *_ = sorted(products, key=measure)
        # Whoever presses the first button there is must not be right by chance.
        yield fair(best is not products[0], measure(best) * 11 <= measure(second) * 10)
        customer = queries.customer_id(world, self.user)
        yield Key.insert("cart_items", customer_id=customer, product_id=best["id"], options="", quantity=1)
        yield facts.seen([sight for one in products for sight in (facts.priced(one), facts.weighed(one))])
        yield Key.checkpoint("product page", queries.product_page(best["slug"]))
        yield Effort(rows=2 * self.count, pages=self.count, steps=2 * self.count + 2)

    def solve(
        self,
        page: Observation,
        *,
        cost: Callable[[int, int], float] = _cost_of_an_ounce,
        last_first: bool = False,
    ) -> Walk:
        costs: dict[int, float] = {}
        for tab in sorted(range(self.count), reverse=last_first):
            page = yield Action.of("tab_focus", tab)
            costs[tab] = cost(_price(page), pages.ounces(page))
        page = yield Action.of("tab_focus", min(costs, key=lambda tab: costs[tab]))
        return (yield from submit(page, "Add to Cart"))


def _price(page: Observation) -> int:
    """What the product costs today: on sale, it stands before the old price."""
    start = next(number for number, node in enumerate(page.nodes) if node.role == "heading" and node.depth)
    prices = (node.name for node in page.nodes[start:] if node.role == "StaticText")
    return next(pages.cents(text) for text in prices if text.startswith("$") and text[1:2].isdigit())
