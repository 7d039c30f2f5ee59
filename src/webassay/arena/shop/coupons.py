"""Discount codes."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, money, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, answer, below, click, done, every_page, go_back, refusal
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.orders import LIST, list_page
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.record import Json
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

COUPONS_ON_A_PAGE = 10
CART = PagePattern(site="shop", path="/cart")
COUPONS = PagePattern(site="shop", path="/coupons")


def _applied(world: World, user: str, coupon: Row) -> Key:
    return Key.insert("cart_coupons", customer_id=queries.customer_id(world, user), code=coupon["code"])


@dataclass(frozen=True)
class BestCoupon(Template):
    """Enter the discount code that takes the most off the cart."""

    name = "shop.best-coupon"
    kind = "mutate"
    chore = "calculation"
    instruction = (
        "Of the codes on the coupon page that work today for what is in my cart, apply the one that takes the most "
        "off the price of the goods; if several take off the same, the one of them that is valid the longest. Leave "
        "the articles in my cart as they are, and do not check out."
    )
    levels = ("medium",)
    tags = ("form",)

    user: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        drawn = cls(queries.with_cart(world, stream))
        ranked = sorted(((off, coupon["ends_on"]) for coupon, off in drawn._working(world)), reverse=True)
        sold_out = world.scalar(
            "SELECT 1 FROM cart_items AS k JOIN products AS p ON p.id = k.product_id"
            " WHERE k.customer_id = ? AND p.stock < k.quantity",
            queries.customer_id(world, drawn.user),
        )
        return drawn if len(ranked) >= 3 and ranked[0] > ranked[1] and not sold_out else None

    def _working(self, world: World) -> list[tuple[Row, int]]:
        goods = queries.cart(world, self.user)
        found = [(coupon, queries.taken_off(coupon, goods)) for coupon in queries.current_coupons(world)]
        return [(coupon, off) for coupon, off in found if off is not None]

    def _best(self, world: World) -> Row:
        return max(self._working(world), key=lambda one: (one[1], one[0]["ends_on"]))[0]

    def key(self, worlds: Worlds) -> Key:
        world, current = worlds["shop"], queries.current_coupons(worlds["shop"])
        read = (*current[::COUPONS_ON_A_PAGE], current[-1], self._best(world))
        return (
            _applied(world, self.user, self._best(world))
            & facts.seen([facts.coupon(coupon) for coupon in read])
            & Key.checkpoint("coupons", COUPONS)
            & Key.checkpoint("cart", CART)
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        working = [coupon for coupon, _ in self._working(world)]
        wrong = {"first-that-works": working[0], "first-of-equals": max(self._working(world), key=itemgetter(1))[0]}
        if percents := [coupon for coupon in working if coupon["kind"] == "percent"]:
            wrong["highest-percentage"] = max(percents, key=lambda coupon: int(coupon["value"]))
        if amounts := [coupon for coupon in working if coupon["kind"] == "amount"]:
            wrong["highest-amount"] = max(amounts, key=lambda coupon: int(coupon["value"]))
        # One of these may well be the best; but not the one that is tried first.
        best = self._best(world)["code"]
        wrong = {name: one for name, one in wrong.items() if name == "first-that-works" or one["code"] != best}
        return {name: _applied(world, self.user, coupon) for name, coupon in wrong.items()}

    def effort(self, worlds: Worlds) -> Effort:
        lines, coupons = len(queries.cart(worlds["shop"], self.user)), len(queries.current_coupons(worlds["shop"]))
        on_pages = pages_of(coupons, COUPONS_ON_A_PAGE)
        return Effort(
            rows=coupons + lines,
            pages=on_pages + lines + 1,
            steps=2 * lines + on_pages + 7,
            longest=2 * coupons + on_pages + 8,
        )

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_cart(page)
        goods: dict[str, int] = {}
        for line in pages.cart_lines(page):
            opened = yield from click(page, "link", line.name)
            department = _department(opened)
            goods[department] = goods.get(department, 0) + line.cents
            page = yield from go_back()
        offers = yield from self._offers(page)
        best = max(offers, key=lambda offer: (_taken_off(offer, goods), offer.until))
        page = yield Action.of("goto", page.url)
        yield from pages.apply_code(page, best.code)
        return done("mutate")

    def _offers(self, page: Observation) -> Reading[list[pages.Offer]]:
        page = yield from pages.open_coupons(page)
        return [offer for one in (yield from every_page(page)) for offer in pages.offers(one)]

    def routes(self) -> Mapping[str, Route]:
        return {"trying-every-code": self._try_every_code}

    def _try_every_code(self, page: Observation) -> Walk:
        offers = yield from self._offers(page)
        page = yield from pages.open_cart(page)
        best = (0, "", "")
        for offer in offers:
            page = yield from pages.apply_code(page, offer.code)
            if f"The discount code {offer.code} was applied." in " ".join(node.name for node in page.nodes):
                best = max(best, (_discount(page), offer.until, offer.code))
        yield from pages.apply_code(page, best[2])
        return done("mutate")

    def hasty(self) -> Mapping[str, Route]:
        return {"first-that-works": self._first_that_works}

    def _first_that_works(self, page: Observation) -> Walk:
        offers = yield from self._offers(page)
        page = yield from pages.open_cart(page)
        for offer in offers:
            page = yield from pages.apply_code(page, offer.code)
            if f"The discount code {offer.code} was applied." in " ".join(node.name for node in page.nodes):
                break
        return done("mutate")


def _department(page: Observation) -> str:
    """From the path on top of a product's page."""
    trail = next(node for node in page.nodes if node.role == "navigation" and node.name == "Breadcrumb")
    links = [node.name for node in below(page, trail) if node.role == "link"]
    return links[1]


def _taken_off(offer: pages.Offer, goods: Mapping[str, int]) -> int:
    cost = sum(cents for department, cents in goods.items() if offer.goods in ("everything", department))
    if not cost or cost < offer.minimum:
        return 0
    return (cost * offer.percent + 50) // 100 if offer.percent else min(cost, offer.cents)


def _discount(page: Observation) -> int:
    """What the cart's summary says."""
    said = [node.name for node in page.nodes]
    found = next((text for text in said if text.startswith("-$")), "$0.00")
    return pages.cents(found.lstrip("-"))


@dataclass(frozen=True)
class CouponRefused(Template):
    """Ask for a discount code that does not work any more, or not yet, though others do."""

    name = "shop.coupon-refused"
    kind = "unachievable"
    chore = "others"
    instruction = "Apply the discount code {code} to my cart."
    levels = ("easy",)
    tags = ("form",)

    user: str
    code: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["shop"]
        user = queries.with_cart(world, stream)
        found = queries.rows(
            world, "SELECT code FROM coupons WHERE NOT ? BETWEEN starts_on AND ends_on ORDER BY code", queries.TODAY
        )
        chosen = queries.pick(stream, found)
        drawn = None if chosen is None else cls(user, chosen["code"])
        return drawn if drawn is not None and drawn._working(world) else None

    def _working(self, world: World) -> list[Row]:
        goods = queries.cart(world, self.user)
        return [one for one in queries.current_coupons(world) if queries.taken_off(one, goods) is not None]

    def key(self, worlds: Worlds) -> Key:
        (coupon,) = queries.rows(worlds["shop"], "SELECT * FROM coupons WHERE code = ?", self.code)
        ended = coupon["ends_on"] < queries.TODAY
        day = facts.long_date(coupon["ends_on" if ended else "starts_on"])
        said = f"The code {self.code} {'expired on' if ended else 'is valid from'} {day}"
        refused = Key.seen_any(shown(said, together="page"), facts.coupon(coupon))
        return Key.refusal("DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR", facts=refused) & Key.checkpoint(
            "cart", CART
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        return {"another-code": _applied(world, self.user, self._working(world)[0])}

    def effort(self, worlds: Worlds) -> Effort:
        listed = queries.rows(worlds["shop"], "SELECT code FROM coupons ORDER BY ends_on, code")
        return Effort(rows=1, pages=1, steps=5, longest=pages_of(len(listed), COUPONS_ON_A_PAGE) + 4)

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_cart(page)
        page = yield from pages.apply_code(page, self.code)
        if f"The discount code {self.code} was applied." in " ".join(node.name for node in page.nodes):
            raise AgentError(f"{self.code} works after all.")
        return refusal("mutate", "DATA_VALIDATION_ERROR", "The shop does not accept this code.")

    def routes(self) -> Mapping[str, Route]:
        return {"from-the-list": self._from_the_list}

    def _from_the_list(self, page: Observation) -> Walk:
        """Its days stand in the list of all coupons."""
        page = yield from pages.open_coupons(page)
        page = yield Action.of("goto", f"{page.url.partition('?')[0]}?show=all")
        while all(offer.code != self.code for offer in pages.offers(page)):
            page = yield from click(page, "link", "Next")
        return refusal("mutate", "DATA_VALIDATION_ERROR", "The code does not work today.")


@dataclass(frozen=True)
class DiscountTotal(Template):
    """Add up what discount codes saved in a year, order by order."""

    name = "shop.discount-total"
    kind = "retrieve"
    chore = "calculation"
    instruction = (
        "How much did discount codes take off my orders of {year}, all together? Leave canceled orders out. The "
        "discounts stand on the pages of the orders. Answer with the sum."
    )
    levels = ("medium", "hard")

    user: str
    year: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        drawn = cls(queries.shopper(worlds["shop"], stream, 6, 400), stream.between(2021, 2025))
        orders = drawn._orders(worlds["shop"])
        saved = [order for order in orders if order["discount_cents"]]
        return drawn if 3 <= len(orders) <= 40 and len(saved) >= 2 else None

    def _orders(self, world: World) -> list[Row]:
        orders = queries.orders_of(world, self.user)
        fitting = [order for order in orders if order["created_at"].startswith(f"{self.year}-")]
        return [order for order in fitting if order["status"] != "canceled"]

    def key(self, worlds: Worlds) -> Key:
        orders = self._orders(worlds["shop"])
        opened = [
            shown(f"Order # {order['number']}", *_saved(order), "Items Ordered", together="page") for order in orders
        ]
        return Key.answer(money(_total(orders))) & facts.seen(opened) & LIST

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        orders = self._orders(world)
        every = queries.orders_of(world, self.user)
        canceled = [
            order for order in every if order["created_at"].startswith(f"{self.year}-") and order["discount_cents"]
        ]
        found = {
            "largest-only": Key.answer(money(max(order["discount_cents"] for order in orders))),
            "one-missed": Key.answer(
                money(_total(orders) - min(order["discount_cents"] for order in orders if order["discount_cents"]))
            ),
        }
        if _total(canceled) != _total(orders):
            found["canceled-counted"] = Key.answer(money(_total(canceled)))
        if _total(every) != _total(canceled):
            found["any-year"] = Key.answer(money(_total(every)))
        return found

    def effort(self, worlds: Worlds) -> Effort:
        orders = self._orders(worlds["shop"])
        last = list_page(worlds["shop"], self.user, orders[-1]["number"])
        return Effort(rows=len(orders), pages=len(orders) + 1, steps=last + 2 * len(orders) + 5)

    def solve(self, page: Observation) -> Walk:
        return self._added((yield from self._opened(page)))

    def _opened(self, page: Observation) -> Reading[list[int]]:
        found: list[int] = []
        page = yield from pages.open_orders(page)
        while True:
            for order in pages.listed_orders(page):
                if order.year < self.year:
                    return found
                if self._fits(order):
                    opened = yield from click(page, "link", f"View Order {order.number}")
                    found.append(_discount(opened))
                    page = yield from go_back()
            if page.find("link", "Next") is None:
                return found
            page = yield from click(page, "link", "Next")

    def _fits(self, order: pages.Order) -> bool:
        return order.year == self.year and order.status != "canceled"

    def _added(self, discounts: list[int]) -> Json:
        return answer(pages.dollars(sum(discounts)))

    def routes(self) -> Mapping[str, Route]:
        return {"by-address": self._by_address}

    def _by_address(self, page: Observation) -> Walk:
        orders = yield from pages.all_orders_until(page, lambda order: order.year < self.year)
        base, found = page.url.partition("/account")[0].rstrip("/"), []
        for order in filter(self._fits, orders):
            opened = yield Action.of("goto", f"{base}/account/orders/{order.number}")
            found.append(_discount(opened))
        return self._added(found)


def _total(orders: list[Row]) -> int:
    return sum(order["discount_cents"] for order in orders)


def _saved(order: Row) -> tuple[str, ...]:
    return (f"-{facts.amount(order['discount_cents'])}",) if order["discount_cents"] else ()
