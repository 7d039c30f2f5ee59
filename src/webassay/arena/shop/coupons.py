"""Discount codes."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, Self

from webassay.arena.kit.effort import Effort, pages_of
from webassay.arena.kit.key import Key, money, shown
from webassay.arena.kit.template import Mutate, Parts, Refuse, Retrieve, clear, fair, top
from webassay.arena.kit.walking import Reading, answer, below, click, done, every_page, go_back, refusal, refused
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import NothingToDraw, Stream

COUPONS_ON_A_PAGE = 10
CART = PagePattern(site="shop", path="/cart")
COUPONS = PagePattern(site="shop", path="/coupons")


def _working(world: World, user: str) -> list[Row]:
    """The codes that work today for the cart, with what each takes off."""
    goods = queries.cart(world, user)
    tried = [{**one, "off": queries.taken_off(one, goods)} for one in queries.current_coupons(world)]
    return [one for one in tried if one["off"] is not None]


def _applied(world: World, user: str, coupon: Row) -> Key:
    return Key.insert("cart_coupons", customer_id=queries.customer_id(world, user), code=coupon["code"])


def _is_applied(page: Observation, code: str) -> bool:
    return f"The discount code {code} was applied." in " ".join(node.name for node in page.nodes)


def _worth(coupon: Row) -> tuple[int, str]:
    return coupon["off"], coupon["ends_on"]


class BestCoupon(Mutate):
    """Enter the discount code that takes the most off the cart."""

    name = "shop.best-coupon"
    chore = "calculation"
    instruction = (
        "Apply the coupon that takes the most off the goods in my cart. It has to be on the coupon page and work "
        "today. If several take off the same amount, use the one that ends last. Do not change what is in my cart, "
        "and do not check out."
    )
    levels = ("medium",)
    tags = ("form",)
    misread = {
        "first-that-works": {"first": True},
        "first-of-equals": {"by": lambda coupon: coupon["off"]},
        "highest-percentage": {"kind": "percent", "by": itemgetter("value")},
        "highest-amount": {"kind": "amount", "by": itemgetter("value")},
    }
    may_agree = ("first-of-equals", "highest-percentage", "highest-amount")
    ways = {"trying-every-code": {"trying": True}}

    user: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.with_cart(world, stream))

    def end(self, world: World, *, first: bool = False, kind: str = "", by: Callable[[Row], Any] = _worth) -> Parts:
        working = [one for one in _working(world, self.user) if kind in ("", one["kind"])]
        ranked = sorted(working, key=by, reverse=True)
        scarce = queries.rows(
            world,
            "SELECT 1 FROM cart_items AS k JOIN products AS p ON p.id = k.product_id"
            " WHERE k.customer_id = ? AND p.stock < k.quantity",
            queries.customer_id(world, self.user),
        )
        yield fair(len(working) >= 3, clear(ranked, by), not scarce)
        best = top(working if first else ranked)
        yield _applied(world, self.user, best)
        current = queries.current_coupons(world)
        yield facts.seen([facts.coupon(one) for one in (*current[::COUPONS_ON_A_PAGE], current[-1], best)])
        yield Key.checkpoint("coupons", COUPONS)
        yield Key.checkpoint("cart", CART)
        lines, coupons = len(queries.cart(world, self.user)), len(current)
        lists = pages_of(coupons, COUPONS_ON_A_PAGE)
        yield Effort(coupons + lines, lists + lines + 1, 2 * lines + lists + 7, longest=2 * coupons + lists + 8)

    def solve(self, page: Observation, *, trying: bool = False, first: bool = False) -> Walk:
        page = yield from pages.open_coupons(page)
        offers = [offer for one in (yield from every_page(page)) for offer in pages.offers(one)]
        page = yield from pages.open_cart(page)
        if trying or first:
            ranked: list[tuple[int, str, str]] = []
            for offer in offers:
                page = yield from pages.apply_code(page, offer.code)
                if _is_applied(page, offer.code):
                    ranked.append((_discount(page), offer.until, offer.code))
                    if first:
                        return done("mutate")
        else:
            goods = yield from _goods(page)
            ranked = [(_taken_off(offer, goods), offer.until, offer.code) for offer in offers]
            page = yield Action.of("goto", page.url)
        yield from pages.apply_code(page, max(ranked)[2])
        return done("mutate")


def _goods(page: Observation) -> Reading[dict[str, int]]:
    """From the cart to the department of each article: department to cents."""
    goods: dict[str, int] = {}
    for line in pages.cart_lines(page):
        opened = yield from click(page, "link", line.name)
        trail = next(node for node in opened.nodes if node.role == "navigation" and node.name == "Breadcrumb")
        department = [node.name for node in below(opened, trail) if node.role == "link"][1]
        goods[department] = goods.get(department, 0) + line.cents
        page = yield from go_back()
    return goods


def _taken_off(offer: pages.Offer, goods: Mapping[str, int]) -> int:
    cost = sum(cents for department, cents in goods.items() if offer.goods in ("everything", department))
    if not cost or cost < offer.minimum:
        return 0
    return (cost * offer.percent + 50) // 100 if offer.percent else min(cost, offer.cents)


def _discount(page: Observation) -> int:
    """By the summary of a cart or an order."""
    line = next((node.name for node in page.nodes if node.name.startswith("-$")), "$0.00")
    return pages.cents(line.lstrip("-"))


class CouponRefused(Refuse):
    """Ask for a discount code that does not work any more, or not yet, though others do."""

    name = "shop.coupon-refused"
    instruction = "Apply the discount code {code} to my cart."
    tags = ("form",)
    misread = {"another-code": {"instead": True}}
    ways = {"from-the-list": {"listed": True}}

    user: str
    code: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.with_cart(world, stream)
        others = "SELECT code FROM coupons WHERE NOT ? BETWEEN starts_on AND ends_on ORDER BY code"
        return cls(user, stream.choice(queries.rows(world, others, queries.TODAY))["code"])

    def end(self, world: World, *, instead: bool = False) -> Parts:
        working = _working(world, self.user)
        yield fair(working)
        if instead:
            yield _applied(world, self.user, working[0])
        coupons = queries.rows(world, "SELECT * FROM coupons ORDER BY ends_on, code")
        coupon = next(one for one in coupons if one["code"] == self.code)
        if coupon["ends_on"] < queries.TODAY:
            notice = f"expired on {facts.long_date(coupon['ends_on'])}"
        else:
            notice = f"is valid from {facts.long_date(coupon['starts_on'])}"
        refused = Key.seen_any(shown(f"The code {self.code} {notice}", together="page"), facts.coupon(coupon))
        yield Key.refusal("DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR", facts=refused)
        yield Key.checkpoint("cart", CART)
        yield Effort(rows=1, pages=1, steps=5, longest=pages_of(len(coupons), COUPONS_ON_A_PAGE) + 4)

    def solve(self, page: Observation, *, listed: bool = False) -> Walk:
        """With `listed`, by its days in the list of all coupons."""
        if listed:
            page = yield from pages.open_coupons(page)
            page = yield Action.of("goto", f"{page.url.partition('?')[0]}?show=all")
            while all(offer.code != self.code for offer in pages.offers(page)):
                page = yield from click(page, "link", "Next")
            return refusal("mutate", "DATA_VALIDATION_ERROR", "The code does not work today.")
        page = yield from pages.open_cart(page)
        page = yield from pages.apply_code(page, self.code)
        works = _is_applied(page, self.code)
        return refused(page, works, "mutate", "DATA_VALIDATION_ERROR", "The shop does not accept this code.")


_saved = itemgetter("discount_cents")


def _without_smallest(discounts: list[int]) -> int:
    return sum(discounts) - min(filter(None, discounts))


class DiscountTotal(Retrieve):
    """Add up what discount codes saved in a year, order by order."""

    name = "shop.discount-total"
    chore = "calculation"
    instruction = (
        "How much did discount codes save me on my orders of {year}, in total? Do not count canceled orders. The "
        "page of each order shows its discount. Answer with the amount."
    )
    levels = ("medium", "hard")
    misread = {
        "largest-only": {"total": max},
        "one-missed": {"total": _without_smallest},
        "canceled-counted": {"canceled": True},
        "any-year": {"canceled": True, "any_year": True},
    }
    may_agree = ("canceled-counted",)
    ways = {"by-address": {"by_address": True}}

    user: str
    year: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        return cls(queries.shopper(world, stream, 6, 400), stream.between(2021, 2025))

    def end(
        self,
        world: World,
        *,
        total: Callable[[list[int]], int] = sum,
        canceled: bool = False,
        any_year: bool = False,
    ) -> Parts:
        own, every = (queries.orders_during(world, self.user, period) for period in (f"{self.year}-", ""))
        if any_year and sum(map(_saved, every)) == sum(map(_saved, own)):
            raise NothingToDraw
        orders = [one for one in (every if any_year else own) if canceled or one["status"] != "canceled"]
        discounts = [*map(_saved, orders)]
        yield fair(3 <= len(orders) <= 40, sum(map(bool, discounts)) >= 2)
        yield Key.answer(money(total(discounts)))
        yield facts.seen([facts.discount(one) for one in orders])
        yield facts.LIST
        last = queries.list_page(world, self.user, orders[-1]["number"])
        yield Effort(rows=len(orders), pages=len(orders) + 1, steps=last + 2 * len(orders) + 5)

    def solve(self, page: Observation, *, by_address: bool = False) -> Walk:
        def fits(order: pages.Order) -> bool:
            return order.year == self.year and order.status != "canceled"

        def past(order: pages.Order) -> bool:
            return order.year < self.year

        if by_address:
            orders = yield from pages.all_orders_until(page, past)
            base, total = page.url.partition("/account")[0].rstrip("/"), 0
            for order in filter(fits, orders):
                page = yield Action.of("goto", f"{base}/account/orders/{order.number}")
                total += _discount(page)
        else:
            total = sum(_discount(opened) for _, opened in (yield from pages.opened_orders(page, fits, past)))
        return answer(pages.dollars(total))
