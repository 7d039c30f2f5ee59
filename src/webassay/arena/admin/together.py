"""Seen in the shop and done in the back office, or the other way round.

Both are one database, and what changes there is told by the site that a template names first.
"""

from abc import abstractmethod
from collections.abc import Mapping
from operator import itemgetter
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, cell, counted, fact, shown
from webassay.arena.kit.template import Mutate, Parts, Retrieve, clear, fair
from webassay.arena.kit.walking import Reading, Steps, answer, choose, click, done, every_page, links, send, submit
from webassay.arena.shop import facts, queries
from webassay.arena.shop import pages as shop
from webassay.core.interaction import Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream


class CheapestOfShelf(Mutate, abstract=True):
    """Something about the cheapest product of a shelf."""

    sites = ("admin", "shop")
    chore = "long_term_memory"
    levels = ("hard",)
    misread = {"dearest": {"dearest": True}}
    ways = {"reading-the-shelf": {"reading": True}}

    user: str
    shelf: str
    path: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        place = queries.place(world, stream, 12, 60, levels=(3,))
        return cls(office.chief(stream), *place, *cls.more(stream))

    @staticmethod
    def more(stream: Stream) -> tuple[int, ...]:
        """The fields of a subclass."""
        return ()

    @abstractmethod
    def change(self, product: Row) -> Key: ...

    @abstractmethod
    def save(self, page: Observation) -> Steps:
        """On the product's page in the back office."""

    def end(self, world: World, *, dearest: bool = False) -> Parts:
        ranked = sorted(queries.products(world, self.path), key=queries.price)
        yield fair(clear(ranked, queries.price), clear(ranked[::-1], queries.price))
        yield self.change(ranked[-1 if dearest else 0])
        yield facts.seen([facts.priced(ranked[0])])
        yield Key.checkpoint("the shelf", queries.place_page(self.path))
        yield Effort(len(ranked), pages_of(len(ranked), shop.PRODUCTS_ON_A_PAGE), 13, longest=16)

    def solve(self, page: Observation, *, dearest: bool = False, reading: bool = False) -> Walk:
        page = yield from pages.switch_to(page, "shop")
        if reading:
            page = yield from shop.open_long_place(page, self.shelf)
            product = min((yield from shop.all_cards(page)), key=lambda card: card.cents).name
        else:
            page = yield from shop.open_place(page, self.shelf)
            page = yield from choose(page, "Sort By", "Price")
            if dearest:
                page = yield from links(page, "Set Descending Direction")
            product = shop.cards(page)[0].name
        page = yield from pages.switch_to(page, "admin")
        page = yield from pages.searched(page, "Products", product)
        page = yield from links(page, product)
        yield from self.save(page)
        return done("mutate")


class RestockCheapest(CheapestOfShelf):
    """Restock the product that is the cheapest of its shelf in the shop."""

    name = "admin.restock-cheapest"
    instruction = (
        "Find the product in {shelf} that costs the least in the shop today. Set its quantity to {quantity} in the "
        "back office. Change nothing else."
    )

    quantity: int

    @staticmethod
    def more(stream: Stream) -> tuple[int, ...]:
        return (stream.between(500, 900),)

    def change(self, product: Row) -> Key:
        return Key.update("products", where={"id": product["id"]}, site="admin", stock=self.quantity)

    def save(self, page: Observation) -> Steps:
        return (yield from send(page, "Save", {"Quantity": str(self.quantity)}))


class HideCheapest(CheapestOfShelf):
    """Take the product out of the shop that is the cheapest of its shelf."""

    name = "admin.hide-cheapest"
    instruction = (
        "The product in {shelf} that costs the least in the shop today has been recalled. Disable it in the back "
        "office."
    )

    def change(self, product: Row) -> Key:
        return Key.update("products", where={"id": product["id"]}, site="admin", enabled=0)

    def save(self, page: Observation) -> Steps:
        page = yield from click(page, "checkbox", "Enable Product")
        return (yield from send(page, "Save"))


class HiddenReviews(Retrieve):
    """Compare the reviews that the shop shows with those that the back office has."""

    name = "admin.hidden-reviews"
    sites = ("admin", "shop")
    chore = "calculation"
    instruction = (
        'How many reviews of "{product}" does the shop show, and how many does the back office have, with any '
        'status? Answer with an object: "shown" (in the shop), "all" (in the back office) and "hidden" (the '
        "difference)."
    )
    reads = ("shown", "all")
    levels = ("medium",)
    misread = {"only-the-shop": {"only": "shown"}, "only-the-office": {"only": "every"}}
    ways = {"shop-first": {"shop_first": True}, "by-the-report": {"by_report": True}}

    user: str
    product: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        products = office.rows(
            world,
            "SELECT p.name FROM products AS p JOIN reviews AS v ON v.product_id = p.id GROUP BY p.id"
            " HAVING sum(v.status <> 'approved') >= 2 AND sum(v.status = 'approved') >= 4"
            " AND (SELECT count(*) FROM products AS q WHERE instr(q.name, p.name)) = 1 ORDER BY p.id",
        )
        product = stream.choice(products)["name"]
        return cls(office.chief(stream), product)

    def end(self, world: World, *, only: str = "") -> Parts:
        (product,) = office.rows(
            world,
            "SELECT p.id, p.sku, sum(v.status = 'approved') AS shown, count(*) AS every FROM reviews AS v"
            " JOIN products AS p ON p.id = v.product_id WHERE p.name = ?",
            self.product,
        )
        few, every = product[only or "shown"], product[only or "every"]
        yield Key.answer({"shown": few, "all": every, "hidden": every - few})
        in_shop = cell("product_ratings", product["id"], "review_count", site="shop")
        written = office.spread(office.reviews(world, "p.name = ?", self.product))
        # Side by side, as the report on reviews has them: the name may contain the number.
        in_report = shown(f"{product['sku']} {every}", site="admin")
        each = [cell("reviews", one["id"], site="admin") for one in written]
        yield office.seen([in_shop, fact(counted("reviews", [one["id"] for one in written], every), in_report, each)])
        yield Key.checkpoint("reviews", office.page("/reviews"))
        yield Effort(rows=2, pages=2, steps=9, longest=11)

    def solve(self, page: Observation, *, shop_first: bool = False, by_report: bool = False) -> Walk:
        if shop_first:
            few, page = yield from self._in_shop(page)
            page = yield from pages.switch_to(page, "admin")
        if by_report:
            page = yield from pages.report(page, "Reviews by Products", ("01/01/2015", "12/31/2026"))
            every = int(pages.line_with(page, "Product", self.product)["Reviews"])
        else:
            page = yield from pages.filtered(page, "All Reviews", {"Product": self.product})
            every = pages.total(page)
        if not shop_first:
            few, page = yield from self._in_shop(page)
        return answer({"shown": few, "all": every, "hidden": every - few})

    def _in_shop(self, page: Observation) -> Reading[tuple[int, Observation]]:
        page = yield from pages.switch_to(page, "shop")
        page = yield from shop.search(page, self.product)
        return next(card.reviews for card in shop.cards(page) if card.name == self.product), page


class ExtendCoupon(Mutate):
    """Extend the offer that ends first of those that the shop shows and that last until a day."""

    name = "admin.extend-coupon"
    sites = ("admin", "shop")
    chore = "long_term_memory"
    instruction = (
        "Look at the coupons that the shop offers today for {goods}. Among those still valid on {day}, find the one "
        "that ends first, and extend it through {until} in the back office."
    )
    levels = ("hard",)
    misread = {"the-last": {"last": True}, "day-ignored": {"day": ""}}
    may_agree = ("day-ignored",)
    ways = {"by-address": {"typing": True}}

    user: str
    goods: str
    day: str
    until: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        goods = sorted({_place(one) for one in _current(world)})
        return cls(
            office.chief(stream),
            stream.choice(goods),
            f"2026-03-{stream.between(2, 31):02d}",
            f"2026-0{stream.between(5, 9)}-{stream.between(10, 28)}",
        )

    def end(self, world: World, *, last: bool = False) -> Parts:
        current = _current(world)
        lasting = [one for one in current if _place(one) == self.goods and one["ends_on"] >= self.day]
        yield fair(clear(lasting, itemgetter("ends_on")))
        coupon = lasting[-1 if last else 0]
        yield Key.update("coupons", where={"code": coupon["code"]}, site="admin", ends_on=self.until)
        yield Key.read(facts.coupon(coupon))
        yield Key.checkpoint("the offers", PagePattern(site="shop", path="/coupons"))
        yield Effort(rows=len(current), pages=2, steps=11, longest=14)

    def solve(self, page: Observation, *, last: bool = False, typing: bool = False) -> Walk:
        page = yield from pages.switch_to(page, "shop")
        page = yield from shop.open_coupons(page)
        listed = yield from every_page(page)
        offers = [one for page in listed for one in shop.offers(page)]
        fitting = [one.code for one in offers if one.goods == self.goods and one.until >= self.day]
        code = fitting[-1 if last else 0]
        page = yield from pages.switch_to(listed[-1], "admin")
        if typing:
            page = yield from pages.goto(page, f"/coupons/{code}")
        else:
            page = yield from pages.searched(page, "Cart Price Rules", code)
            page = yield from links(page, code)
        return (yield from submit(page, "Save Rule", {"To": self.until if typing else office.typed(self.until)}))


def _current(world: World) -> list[Row]:
    """What the shop offers today, those that end first on top; free shipping takes nothing off any goods."""
    return office.rows(
        world,
        "SELECT k.*, d.name AS department FROM coupons AS k LEFT JOIN categories AS d ON d.id = k.department_id"
        " WHERE k.starts_on <= '2026-03-01' AND k.ends_on >= '2026-03-01' AND k.kind <> 'shipping'"
        " ORDER BY k.ends_on, k.code",
    )


def _place(coupon: Row) -> str:
    return coupon["department"] or "everything"


class CustomerAndStaff(Mutate, abstract=True):
    """Somebody is a customer in the shop, and works in the back office."""

    sites = ("shop", "admin")
    chore = "long_term_memory"

    user: str
    staff: str

    @property
    def logins(self) -> Mapping[str, str]:
        return {"shop": self.user, "admin": self.staff}


class HoldMine(CustomerAndStaff):
    """Hold an order that a customer sees in the shop."""

    name = "shop.hold-my-order"
    instruction = (
        "In the shop, you are logged in as a customer. Find this customer's pending order with the highest order "
        "total. Put it on hold in the back office."
    )
    levels = ("medium", "hard")
    misread = {"newest": {"newest": True}}
    ways = {"in-the-grid": {"in_grid": True}}

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.shopper(world, stream, 3, 60), office.chief(stream))

    def end(self, world: World, *, newest: bool = False) -> Parts:
        orders = queries.orders_of(world, self.user)
        pending = [one for one in orders if one["status"] == "pending"]
        ranked = sorted(pending, key=itemgetter("total_cents"), reverse=True)
        yield fair(clear(ranked, itemgetter("total_cents")), ranked[:1] != pending[:1])
        order = (pending if newest else ranked)[0]
        yield Key.update("orders", where={"id": order["id"]}, site="shop", status="on hold")
        yield Key.seen_share(1.0, [facts.order_total(one) for one in pending])
        yield Key.checkpoint("the order", office.page(f"/orders/{order['number']}"))
        listed = pages_of(len(orders), shop.ORDERS_ON_A_PAGE)
        yield Effort(rows=len(pending), pages=2, steps=8 + listed, longest=10 + listed)

    def solve(self, page: Observation, *, newest: bool = False, in_grid: bool = False) -> Walk:
        orders = yield from shop.all_orders(page)
        pending = [one for one in orders if one.status == "pending"]
        order = pending[0] if newest else max(pending, key=lambda one: one.cents)
        page = yield from pages.switch_to(page, "admin")
        if in_grid:
            page = yield from pages.find_order(page, order.number)
            page = yield from pages.tick(page, order.number)
            yield from pages.act(page, "Hold")
        else:
            page = yield from pages.open_order(page, order.number)
            yield from send(page, "Hold")
        return done("mutate")


class WishForTop(CustomerAndStaff):
    """Wish in the shop for what the back office says sold best."""

    name = "shop.wish-for-bestseller"
    instruction = (
        "Which product sold best in {when}, according to the bestsellers report in the back office? Add it to my "
        "wish list in the shop."
    )
    levels = ("hard",)
    misread = {"second-best": {"place": 1}}
    ways = {"by-year": {"typing": True}}

    month: str
    when: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 12):02d}"
        return cls(queries.shopper(world, stream, 3, 60), office.chief(stream), month, office.in_words(month))

    def end(self, world: World, *, place: int = 0) -> Parts:
        best, customer = office.bestsellers(world, self.month)[:2], queries.customer_id(world, self.user)
        sql = "SELECT product_id FROM wishlist_items WHERE customer_id = ?"
        wished = {one["product_id"] for one in office.rows(world, sql, customer)}
        yield fair(clear(best, itemgetter("pieces")), wished.isdisjoint(one["id"] for one in best))
        product = best[place]
        yield Key.insert("wishlist_items", site="shop", customer_id=customer, product_id=product["id"])
        yield office.seen([office.bestseller(product)])
        yield Key.checkpoint("the report", office.page("/reports/bestsellers"))
        yield Effort(rows=5, pages=3, steps=14)

    def solve(self, page: Observation, *, place: int = 0, typing: bool = False) -> Walk:
        page = yield from pages.switch_to(page, "admin")
        first, last = office.month_span(self.month)
        if typing:
            page = yield from pages.goto(page, f"/reports/bestsellers?report=1&period=year&from={first}&to={last}")
        else:
            page = yield from pages.report(page, "Bestsellers", (first, last), "Month")
        product = pages.lines(page)[place]["Product"]
        page = yield from pages.switch_to(page, "shop")
        page = yield from shop.open_product(page, product)
        return (yield from submit(page, "Add to Wish List"))
