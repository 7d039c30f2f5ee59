"""The cart and the wish list."""

from collections.abc import Callable
from typing import Any, Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, Refuse, clear, fair
from webassay.arena.kit.walking import choose, click, done, fill, go_back, links, need, refused, send, submit
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


def in_cart(world: World, user: str, product_id: int, quantity: int, options: str = "") -> Key:
    """One more article in the cart."""
    customer = queries.customer_id(world, user)
    return Key.insert("cart_items", customer_id=customer, product_id=product_id, options=options, quantity=quantity)


def _can_be_bought(product: Row) -> bool:
    """In stock, and nothing asks for a size or a color."""
    return not product["has_options"] and bool(product["stock"] >= 10)


class CartCheapestWellRated(Mutate):
    """Put some pieces of a category's cheapest well-rated product into the cart."""

    name = "shop.cart-cheapest-well-rated"
    chore = "calculation"
    instruction = (
        "Find the cheapest product in {shelf} with an average rating of at least {rating} stars. Add {quantity} of "
        "it to my cart. If a product is on sale, its sale price counts."
    )
    levels = ("medium",)
    misread = {
        "rating-ignored": {"rating": "0.0"},
        "first-that-fits": {"by": lambda product: 0},
        "best-rated": {"by": lambda product: -queries.tenths(product)},
    }
    ways = {"sorted-then-cart": {"from_card": True}}

    user: str
    shelf: str
    path: str
    rating: str
    quantity: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, 4)
        place = queries.place(world, stream, 14, 150, levels=(2, 3))
        tenths = stream.choice((40, 42, 43, 44, 45, 46))
        return cls(user, *place, f"{tenths // 10}.{tenths % 10}", stream.between(2, 4))

    @property
    def _tenths(self) -> int:
        return int(self.rating.replace(".", ""))

    def end(self, world: World, *, by: Callable[[Row], Any] = queries.as_sorted) -> Parts:
        listed = queries.products(world, self.path)
        good = [one for one in listed if queries.tenths(one) >= self._tenths]
        ranked = sorted(good, key=queries.price)
        rounded_up = any(one["rating_sum"] * 10 < self._tenths * one["review_count"] for one in good)
        yield fair(clear(ranked, queries.price), not rounded_up)
        best, cheapest = min(good, key=by), min(listed, key=queries.as_sorted)
        # What a hasty agent buys must be for sale as well, or the shop itself would put it right.
        yield fair(queries.price(cheapest) < queries.price(best), _can_be_bought(cheapest), _can_be_bought(best))
        yield fair(not queries.cart(world, self.user))
        yield in_cart(world, self.user, best["id"], self.quantity)
        yield facts.seen([facts.rated(best)])
        # Sorted by price, what is cheaper comes first; sorted by rating, what is rated well.
        cheaper = [one for one in listed if queries.price(one) < queries.price(best)]
        yield Key.seen_any(*([sight for one in some for sight in facts.rated(one)] for some in (cheaper, ranked)))
        yield Key.checkpoint("category", queries.place_page(self.path))
        passed = sum(queries.price(one) <= queries.price(best) for one in listed)
        size = pages.PRODUCTS_ON_A_PAGE
        yield Effort(passed, pages_of(passed, size) + 1, steps=11 + pages_of(len(listed), size))

    def solve(self, page: Observation, *, from_card: bool = False) -> Walk:
        page = yield from pages.open_long_place(page, self.shelf)
        page = yield from choose(page, "Sort By", "Price")
        if not from_card:
            good = [card for card in (yield from pages.all_cards(page)) if card.tenths >= self._tenths]
            page = yield from pages.open_product(page, min(good, key=lambda card: card.cents).name)
            yield from pages.put_in_cart(page, self.quantity)
            return done("mutate")
        while (card := next((card for card in pages.cards(page) if card.tenths >= self._tenths), None)) is None:
            page = yield from click(page, "link", "Next")
        # One piece from the card; the others in the cart.
        page = yield Action.of("click", pages.in_card(page, card.name, "button", "Add to Cart").id)
        page = yield Action.of("goto", f"{page.url.split('/c/')[0]}/cart")
        page = yield from fill(page, "spinbutton", f"Quantity of {card.name}", str(self.quantity))
        return (yield from submit(page, "Update Shopping Cart"))


class CartSoldOut(Refuse):
    """Ask for a product that is out of stock, though something like it is not."""

    name = "shop.cart-sold-out"
    instruction = 'Add one "{product}" to my cart.'
    misread = {"something-alike": {"instead": True}}
    ways = {"from-card": {"from_card": True}}

    user: str
    product: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, 4, 400)
        return cls(user, stream.choice(queries.find_products(world, "p.stock = 0"))["name"])

    def end(self, world: World, *, instead: bool = False) -> Parts:
        wanted = queries.product(world, self.product)
        of_the_brand = (one for one in queries.products(world, wanted["shelf"]) if one["brand"] == wanted["brand"])
        alike = list(filter(_can_be_bought, of_the_brand))
        yield fair(alike)
        if instead:
            yield in_cart(world, self.user, alike[0]["id"], 1)
        yield Key.refusal("ACTION_NOT_ALLOWED_ERROR", facts=Key.seen(self.product, "Out of stock"))
        yield Key.checkpoint("found", PagePattern(site="shop", path="/search"), queries.product_page(wanted["slug"]))
        yield Effort(rows=1, pages=1, steps=6)

    def solve(self, page: Observation, *, from_card: bool = False) -> Walk:
        page = yield from pages.search(page, self.product)
        sold_out = pages.says(page, self.product, "Out of stock")
        if not from_card:
            page = yield from links(page, self.product)
            sold_out = page.find("StaticText", "Out of stock") is not None
        return refused(page, not sold_out, "mutate", "ACTION_NOT_ALLOWED_ERROR", "The product is out of stock.")


class WishForOrder(Mutate):
    """Add every article of an order to the wish list."""

    name = "shop.wish-for-order"
    chore = "long_term_memory"
    instruction = "Add every product in my order {order} to my wish list."
    levels = ("medium",)
    misread = {"first-article-only": {"most": 1}, "neighboring-order": {"further": 1}}
    ways = {"by-search": {"searching": True}}

    user: str
    order: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream)
        wished = (
            "SELECT 1 FROM wishlist_items AS w JOIN order_items AS j ON j.product_id = w.product_id"
            " WHERE w.customer_id = c.id AND j.order_id = o.id"
        )
        new = f"count(*) >= 2 AND count(DISTINCT i.product_id) = count(*) AND NOT EXISTS ({wished})"
        return cls(user, queries.some_order(world, stream, user, new))

    def end(self, world: World, *, most: int | None = None, further: int = 0) -> Parts:
        """`further` down the list stands another order."""
        numbers = [order["number"] for order in queries.orders_of(world, self.user)]
        number = numbers[(numbers.index(self.order) + further) % len(numbers)]
        items, customer = queries.order_items(world, number), queries.customer_id(world, self.user)
        wished = [Key.insert("wishlist_items", customer_id=customer, product_id=one["product_id"]) for one in items]
        yield Key.all_of(wished[:most])
        yield facts.seen([facts.bought(item) for item in items])
        yield Key.checkpoint("order", queries.order_page(self.order))
        listed = queries.list_page(world, self.user, self.order)
        yield Effort(rows=len(items), pages=len(items) + 1, steps=listed + 4 * len(items) + 4)

    def solve(self, page: Observation, *, most: int | None = None, searching: bool = False) -> Walk:
        page = yield from pages.open_order(page, self.order)
        for item in pages.items(page)[:most]:
            page = yield from (pages.open_product(page, item.name) if searching else links(page, item.name))
            page = yield from send(page, "Add to Wish List")
            if not searching:
                yield from go_back()
                page = yield from go_back()
                need(page, "heading", contains=self.order)
        return done("mutate")
