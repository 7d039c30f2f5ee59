"""Seen in the shop and done in the back office, or the other way round.

Both are one database, and what changes there is told by the site that a template names first.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, fact, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, Steps, answer, choose, click, done, fill, submit, then
from webassay.arena.shop import facts, queries
from webassay.arena.shop import pages as shop
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import PagePattern
from webassay.sites.kit import Row
from webassay.sites.rng import Stream


def _product_in_office(page: Observation, name: str) -> Steps:
    page = yield from pages.switch_to(page, "admin")
    page = yield from click(page, "link", "Products")
    page = yield from pages.search(page, name)
    return (yield from click(page, "link", name))


class CheapestOfShelf(Template, abstract=True):
    """Something about the cheapest product of a shelf."""

    sites = ("admin", "shop")
    kind = "mutate"
    chore = "long_term_memory"
    levels = ("hard",)

    user: str
    shelf: str
    path: str

    @classmethod
    def some_shelf(cls, worlds: Worlds, stream: Stream) -> tuple[str, str] | None:
        shelf, path = queries.place(worlds["shop"], stream, 12, 60, levels=(3,))
        prices = sorted(one["price_cents"] for one in queries.products(worlds["shop"], path))
        return (shelf, path) if prices[0] < prices[1] and prices[-1] > prices[-2] else None

    def _ranked(self, worlds: Worlds) -> list[Row]:
        """The cheapest first."""
        return sorted(queries.products(worlds["shop"], self.path), key=lambda one: int(one["price_cents"]))

    def _seen(self, worlds: Worlds) -> Key:
        cheapest = self._ranked(worlds)[0]
        return facts.seen([facts.priced(cheapest)]) & Key.checkpoint(
            "the shelf", PagePattern(site="shop", path=f"/c/{self.path}")
        )

    @abstractmethod
    def change(self, product: Row) -> Key: ...

    @abstractmethod
    def act(self, page: Observation, name: str) -> Walk:
        """What is to be done in the back office with the product of that name."""

    def key(self, worlds: Worlds) -> Key:
        return self.change(self._ranked(worlds)[0]) & self._seen(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"dearest": self.change(self._ranked(worlds)[-1])}

    def solve(self, page: Observation) -> Walk:
        return (yield from self.act(*(yield from self._cheapest(page))))

    def routes(self) -> Mapping[str, Route]:
        return {"reading-the-shelf": then(self._by_reading, lambda found: self.act(*found))}

    def hasty(self) -> Mapping[str, Route]:
        return {"dearest": then(lambda page: self._cheapest(page, dearest=True), lambda found: self.act(*found))}

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._ranked(worlds))
        return Effort(count, pages_of(count, shop.PRODUCTS_ON_A_PAGE), 13, longest=16)

    def _cheapest(self, page: Observation, dearest: bool = False) -> Reading[tuple[Observation, str]]:
        page = yield from pages.switch_to(page, "shop")
        page = yield from shop.open_place(page, self.shelf)
        page = yield from choose(page, "Sort By", "Price")
        if dearest:
            page = yield from click(page, "link", "Set Descending Direction")
        return page, shop.cards(page)[0].name

    def _by_reading(self, page: Observation) -> Reading[tuple[Observation, str]]:
        page = yield from pages.switch_to(page, "shop")
        page = yield from shop.open_long_place(page, self.shelf)
        cards = yield from shop.all_cards(page)
        return page, min(cards, key=lambda card: card.cents).name


@dataclass(frozen=True)
class RestockCheapest(CheapestOfShelf):
    """Restock the product that is the cheapest of its shelf in the shop."""

    name = "admin.restock-cheapest"
    instruction = (
        "In the shop, find the cheapest product in {shelf}. Set its quantity to {quantity} in the back office, and "
        "change nothing else."
    )

    user: str
    shelf: str
    path: str
    quantity: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        place = cls.some_shelf(worlds, stream)
        return cls(office.chief(stream), *place, stream.between(500, 900)) if place else None

    def change(self, product: Row) -> Key:
        return Key.update("products", where={"id": product["id"]}, site="admin", stock=self.quantity)

    def act(self, page: Observation, name: str) -> Walk:
        page = yield from _product_in_office(page, name)
        page = yield from fill(page, "textbox", "Quantity", str(self.quantity))
        return (yield from submit(page, "Save"))


@dataclass(frozen=True)
class HideCheapest(CheapestOfShelf):
    """Take the product out of the shop that is the cheapest of its shelf."""

    name = "admin.hide-cheapest"
    instruction = (
        "The cheapest product that the shop shows in {shelf} was recalled by its maker. Disable it in the back office."
    )

    user: str
    shelf: str
    path: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        place = cls.some_shelf(worlds, stream)
        return cls(office.chief(stream), *place) if place else None

    def change(self, product: Row) -> Key:
        return Key.update("products", where={"id": product["id"]}, site="admin", enabled=0)

    def act(self, page: Observation, name: str) -> Walk:
        page = yield from _product_in_office(page, name)
        page = yield from click(page, "checkbox", "Enable Product")
        return (yield from submit(page, "Save"))


@dataclass(frozen=True)
class HiddenReviews(Template):
    """Compare the reviews that the shop shows with those that the back office has."""

    name = "admin.hidden-reviews"
    sites = ("admin", "shop")
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        'How many reviews does the shop show for "{product}", and how many does the back office have for it in all, '
        'whatever became of them? Answer with one object with the keys "shown", "all" and "hidden", the difference.'
    )
    reads = ("shown", "all")
    levels = ("medium",)

    user: str
    product: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.some_row(
            worlds["admin"],
            stream,
            "SELECT p.name FROM products AS p JOIN reviews AS v ON v.product_id = p.id GROUP BY p.id"
            " HAVING sum(v.status <> 'approved') >= 2 AND sum(v.status = 'approved') >= 4"
            " AND (SELECT count(*) FROM products AS q WHERE instr(q.name, p.name)) = 1 ORDER BY p.id",
        )
        return cls(office.chief(stream), found["name"]) if found else None

    def _counts(self, worlds: Worlds) -> tuple[int, int]:
        (found,) = office.rows(
            worlds["admin"],
            "SELECT sum(v.status = 'approved') AS shown, count(*) AS every FROM reviews AS v JOIN products AS p"
            " ON p.id = v.product_id WHERE p.name = ?",
            self.product,
        )
        return found["shown"], found["every"]

    def key(self, worlds: Worlds) -> Key:
        few, every = self._counts(worlds)
        known = [
            fact(shown(self.product, f"{few} reviews"), shown(self.product, f"Reviews ({few})", together="page")),
            fact(
                shown(office.counted(every, "reviews")),
                # Side by side, as the report on reviews has them: the name may contain the number.
                shown(f"{queries.product(worlds['shop'], self.product)['sku']} {every}"),
            ),
        ]
        return (
            Key.answer({"shown": few, "all": every, "hidden": every - few})
            & Key.seen_share(1.0, known)
            & (Key.checkpoint("reviews", office.page("/reviews")))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        few, every = self._counts(worlds)
        return {
            "only-the-shop": Key.answer({"shown": few, "all": few, "hidden": 0}),
            "only-the-office": Key.answer({"shown": every, "all": every, "hidden": 0}),
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=2, pages=2, steps=9, longest=11)

    def _in_office(self, page: Observation) -> Steps:
        page = yield from click(page, "link", "All Reviews")
        return (yield from pages.narrow(page, {"Product": self.product}))

    def _in_shop(self, page: Observation) -> Steps:
        page = yield from pages.switch_to(page, "shop")
        return (yield from shop.search(page, self.product))

    def _said(self, office_page: Observation, shop_page: Observation) -> Json:
        every = pages.total(office_page)
        few = next(card.reviews for card in shop.cards(shop_page) if card.name == self.product)
        return answer({"shown": few, "all": every, "hidden": every - few})

    def solve(self, page: Observation) -> Walk:
        listed = yield from self._in_office(page)
        found = yield from self._in_shop(listed)
        return self._said(listed, found)

    def routes(self) -> Mapping[str, Route]:
        return {"shop-first": self._shop_first}

    def _shop_first(self, page: Observation) -> Walk:
        found = yield from self._in_shop(page)
        page = yield from pages.switch_to(found, "admin")
        listed = yield from self._in_office(page)
        return self._said(listed, found)


@dataclass(frozen=True)
class ExtendCoupon(Template):
    """Extend the offer that ends first of those that the shop shows and that last until a day."""

    name = "admin.extend-coupon"
    sites = ("admin", "shop")
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        "Of the coupons that the shop offers today for {goods} and that are still valid on {day}, take the one that "
        "ends first, and let it run until {until}. The rules for coupons are in the back office."
    )
    levels = ("hard",)

    user: str
    goods: str
    day: str
    until: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(
            office.chief(stream),
            stream.choice(_goods(worlds)),
            f"2026-03-{stream.between(2, 31):02d}",
            f"2026-0{stream.between(5, 9)}-{stream.between(10, 28)}",
        )
        ends = [one["ends_on"] for one in drawn._lasting(worlds)]
        return drawn if len(ends) >= 2 and ends[0] < ends[1] else None

    def _offers(self, worlds: Worlds) -> list[Row]:
        return [one for one in _current(worlds) if _place(one) == self.goods]

    def _lasting(self, worlds: Worlds) -> list[Row]:
        return [one for one in self._offers(worlds) if one["ends_on"] >= self.day]

    def _change(self, coupon: Row) -> Key:
        return Key.update("coupons", where={"code": coupon["code"]}, site="admin", ends_on=self.until)

    def key(self, worlds: Worlds) -> Key:
        first = self._lasting(worlds)[0]
        return (
            self._change(first)
            & Key.seen_any(*(shown(first["code"], day(first["ends_on"])) for day in (facts.long_date, _short)))
            & Key.checkpoint("the offers", PagePattern(site="shop", path="/coupons"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        offers, lasting = self._offers(worlds), self._lasting(worlds)
        found = {"the-last": self._change(offers[-1])}
        if offers[0]["code"] != lasting[0]["code"]:
            found["day-ignored"] = self._change(offers[0])
        return found

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=len(_current(worlds)), pages=2, steps=11, longest=14)

    def _offer(self, page: Observation, last: bool = False) -> Reading[tuple[Observation, str]]:
        page = yield from pages.switch_to(page, "shop")
        page = yield from shop.open_coupons(page)
        offers = shop.offers(page)
        while page.find("link", "Next") is not None:
            page = yield from click(page, "link", "Next")
            offers += shop.offers(page)
        fitting = [one.code for one in offers if one.goods == self.goods and one.until >= self.day]
        return page, fitting[-1] if last else fitting[0]

    def _extend(self, page: Observation, code: str) -> Walk:
        page = yield from pages.switch_to(page, "admin")
        page = yield from click(page, "link", "Cart Price Rules")
        page = yield from pages.search(page, code)
        page = yield from click(page, "link", code)
        page = yield from fill(page, "textbox", "To", office.typed(self.until))
        return (yield from submit(page, "Save Rule"))

    def solve(self, page: Observation) -> Walk:
        return (yield from self._extend(*(yield from self._offer(page))))

    def routes(self) -> Mapping[str, Route]:
        return {"by-address": self._by_address}

    def _by_address(self, page: Observation) -> Walk:
        page, code = yield from self._offer(page)
        page = yield from pages.switch_to(page, "admin")
        page = yield from pages.goto(page, f"/coupons/{code}")
        page = yield from fill(page, "textbox", "To", self.until)
        return (yield from submit(page, "Save Rule"))

    def hasty(self) -> Mapping[str, Route]:
        return {"the-last": self._last}

    def _last(self, page: Observation) -> Walk:
        return (yield from self._extend(*(yield from self._offer(page, last=True))))


def _current(worlds: Worlds) -> list[Row]:
    """What the shop offers today, those that end first on top; free shipping takes nothing off any goods."""
    return office.rows(
        worlds["shop"],
        "SELECT k.*, d.name AS department FROM coupons AS k LEFT JOIN categories AS d ON d.id = k.department_id"
        " WHERE k.starts_on <= '2026-03-01' AND k.ends_on >= '2026-03-01' AND k.kind <> 'shipping'"
        " ORDER BY k.ends_on, k.code",
    )


def _place(coupon: Row) -> str:
    return coupon["department"] or "everything"


def _goods(worlds: Worlds) -> list[str]:
    return sorted({_place(one) for one in _current(worlds)})


def _short(day: str) -> str:
    return f"{office.MONTHS[int(day[5:7]) - 1][:3]} {int(day[8:10])}, {day[:4]}"


@dataclass(frozen=True)
class HoldMine(Template):
    """Hold an order that a customer sees in the shop."""

    name = "shop.hold-my-order"
    sites = ("shop", "admin")
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        "In the shop you are logged in as a customer. Put the pending order with the highest order total of this "
        "customer on hold in the back office."
    )
    levels = ("medium", "hard")

    user: str
    staff: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(queries.shopper(worlds["shop"], stream, 3, 60), office.chief(stream))
        totals = [one["total_cents"] for one in drawn._pending(worlds)]
        return drawn if len(totals) >= 2 and max(totals) != totals[0] and totals.count(max(totals)) == 1 else None

    @property
    def logins(self) -> Mapping[str, str]:
        return {"shop": self.user, "admin": self.staff}

    def _pending(self, worlds: Worlds) -> list[Row]:
        """The newest first."""
        return [one for one in queries.orders_of(worlds["shop"], self.user) if one["status"] == "pending"]

    @staticmethod
    def _held(order: Row) -> Key:
        return Key.update("orders", where={"id": order["id"]}, site="shop", status="on hold")

    def key(self, worlds: Worlds) -> Key:
        pending = self._pending(worlds)
        highest = max(pending, key=lambda one: int(one["total_cents"]))
        known = Key.seen_share(1.0, [facts.order_total(one) for one in pending])
        return self._held(highest) & known & Key.checkpoint("the order", office.page(f"/orders/{highest['number']}"))

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"newest": self._held(self._pending(worlds)[0])}

    def effort(self, worlds: Worlds) -> Effort:
        count = len(queries.orders_of(worlds["shop"], self.user))
        listed = pages_of(count, shop.ORDERS_ON_A_PAGE)
        return Effort(rows=len(self._pending(worlds)), pages=2, steps=8 + listed, longest=10 + listed)

    def _number(self, page: Observation, newest: bool = False) -> Reading[tuple[Observation, str]]:
        orders = yield from shop.all_orders(page)
        pending = [one for one in orders if one.status == "pending"]
        chosen = pending[0] if newest else max(pending, key=lambda one: one.cents)
        return (yield from pages.switch_to(page, "admin")), chosen.number

    def _hold(self, page: Observation, number: str) -> Walk:
        page = yield from pages.open_order(page, number)
        return (yield from submit(page, "Hold"))

    def solve(self, page: Observation) -> Walk:
        return (yield from self._hold(*(yield from self._number(page))))

    def routes(self) -> Mapping[str, Route]:
        return {"in-the-grid": self._in_grid}

    def _in_grid(self, page: Observation) -> Walk:
        page, number = yield from self._number(page)
        page = yield from pages.find_order(page, number)
        page = yield from pages.tick(page, number)
        yield from pages.act(page, "Hold")
        return done("mutate")

    def hasty(self) -> Mapping[str, Route]:
        return {"newest": self._newest}

    def _newest(self, page: Observation) -> Walk:
        return (yield from self._hold(*(yield from self._number(page, newest=True))))


@dataclass(frozen=True)
class WishForTop(Template):
    """Wish in the shop for what the back office says sold best."""

    name = "shop.wish-for-bestseller"
    sites = ("shop", "admin")
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        "Which product sold best in {when}, according to the bestsellers report of the back office? Put it on my wish "
        "list in the shop."
    )
    levels = ("hard",)

    user: str
    staff: str
    month: str
    when: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        month = f"{stream.between(2022, 2025)}-{stream.between(1, 12):02d}"
        drawn = cls(queries.shopper(worlds["shop"], stream, 3, 60), office.chief(stream), month, office.in_words(month))
        best = office.bestsellers(worlds["shop"], month)[:2]
        if len(best) < 2 or best[0]["pieces"] == best[1]["pieces"]:
            return None
        wished = office.rows(
            worlds["shop"],
            "SELECT w.product_id FROM wishlist_items AS w JOIN customers AS c ON c.id = w.customer_id"
            " WHERE c.email = ?",
            drawn.user,
        )
        return None if {one["product_id"] for one in wished} & {one["id"] for one in best} else drawn

    @property
    def logins(self) -> Mapping[str, str]:
        return {"shop": self.user, "admin": self.staff}

    def _wish(self, worlds: Worlds, product: Row) -> Key:
        (customer,) = office.rows(worlds["shop"], "SELECT id FROM customers WHERE email = ?", self.user)
        return Key.insert("wishlist_items", site="shop", customer_id=customer["id"], product_id=product["id"])

    def key(self, worlds: Worlds) -> Key:
        best = office.bestsellers(worlds["shop"], self.month)[0]
        return (
            self._wish(worlds, best)
            & office.seen([office.bestseller(best)])
            & Key.checkpoint("the report", office.page("/reports/bestsellers"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"second-best": self._wish(worlds, office.bestsellers(worlds["shop"], self.month)[1])}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=5, pages=3, steps=14)

    def _name(self, page: Observation, place: int = 0, period: str = "Month") -> Reading[tuple[Observation, str]]:
        page = yield from pages.switch_to(page, "admin")
        page = yield from pages.report(page, "Bestsellers", office.month_span(self.month), period)
        name = pages.lines(page)[place]["Product"]
        return (yield from pages.switch_to(page, "shop")), name

    def _add(self, page: Observation, name: str) -> Walk:
        page = yield from shop.open_product(page, name)
        return (yield from submit(page, "Add to Wish List"))

    def solve(self, page: Observation) -> Walk:
        return (yield from self._add(*(yield from self._name(page))))

    def routes(self) -> Mapping[str, Route]:
        return {"by-year": self._by_address}

    def _by_address(self, page: Observation) -> Walk:
        """The report is at an address, too."""
        first, last = office.month_span(self.month)
        page = yield from pages.switch_to(page, "admin")
        page = yield from pages.goto(page, f"/reports/bestsellers?report=1&period=year&from={first}&to={last}")
        name = pages.lines(page)[0]["Product"]
        page = yield from pages.switch_to(page, "shop")
        return (yield from self._add(page, name))

    def hasty(self) -> Mapping[str, Route]:
        return {"second-best": self._second}

    def _second(self, page: Observation) -> Walk:
        return (yield from self._add(*(yield from self._name(page, place=1))))
