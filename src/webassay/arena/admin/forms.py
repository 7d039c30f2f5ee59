"""Filling in the forms of the back office: an order, a product, a page, a rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.admin.buyers import OldestPending
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, fact, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, Steps, choose, click, done, fill, submit, then
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row
from webassay.sites.rng import Stream

ADMINS = {"greta.holm": 1, "owen.baptiste": 2}
CARRIERS = ("UPS", "FedEx", "USPS", "DHL")
MESSAGES = (
    "The parcel leaves our warehouse tomorrow.",
    "One article is late; everything comes together next week.",
    "Please call us about the delivery address.",
    "We have upgraded the shipping at no cost.",
)


def _open_at(page: Observation, menu: str, words: str, link: str) -> Steps:
    page = yield from click(page, "link", menu)
    page = yield from pages.search(page, words)
    return (yield from click(page, "link", link))


# --- orders -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CommentOldest(OldestPending):
    """Comment on the oldest pending order of a buyer, and notify them."""

    name = "admin.comment-oldest"
    instruction = (
        'Add the comment "{message}" to the oldest pending order with the bill-to name {buyer}, and have the customer '
        "notified by email."
    )
    takes = (2, 11)

    user: str
    buyer: str
    message: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        buyer = cls.some_buyer(worlds, stream)
        return cls(office.chief(stream), buyer, stream.choice(MESSAGES)) if buyer else None

    def _said(self, order: Row, notified: int = 1) -> Key:
        return Key.insert(
            "order_comments", order_id=order["id"], admin_id=ADMINS[self.user], status="pending", comment=self.message,
            notified=notified,
        )  # fmt: skip

    def key(self, worlds: Worlds) -> Key:
        return self._said(self.order(worlds)) & self.evidence(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        own = self.own(worlds)
        return {"newest": self._said(own[0]), "not-notified": self._said(own[-1], 0)}

    def act(self, page: Observation, notify: bool = True) -> Walk:
        page = yield from fill(page, "textbox", "Comment", self.message)
        if notify:
            page = yield from click(page, "checkbox", "Notify Customer by Email")
        return (yield from submit(page, "Submit Comment"))

    def hasty(self) -> Mapping[str, Route]:
        return {**super().hasty(), "not-notified": then(self.open, lambda page: self.act(page, notify=False))}


@dataclass(frozen=True)
class ShipOldest(OldestPending):
    """Ship the oldest pending order of a buyer with a tracking number."""

    name = "admin.ship-oldest"
    instruction = (
        "The parcel for the oldest pending order with the bill-to name {buyer} was handed to {carrier}. Enter the "
        "shipment, with the tracking number {tracking}."
    )
    takes = (2, 12)

    user: str
    buyer: str
    carrier: str
    tracking: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        buyer = cls.some_buyer(worlds, stream)
        code = f"{stream.choice(('TX', 'PQ', 'ZL'))}{stream.between(10**8, 10**9 - 1)}"
        return cls(office.chief(stream), buyer, stream.choice(CARRIERS), code) if buyer else None

    def _shipped(self, order: Row) -> Key:
        return Key.insert("shipments", order_id=order["id"], carrier=self.carrier, tracking=self.tracking) & Key.update(
            "orders", where={"id": order["id"]}, status="processing"
        )

    def key(self, worlds: Worlds) -> Key:
        return self._shipped(self.order(worlds)) & self.evidence(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"newest": self._shipped(self.other(worlds))}

    def act(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Ship")
        page = yield from choose(page, "Carrier", self.carrier)
        page = yield from fill(page, "textbox", "Tracking Number (optional)", self.tracking)
        return (yield from submit(page, "Submit Shipment"))


# --- products ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReducePrice(Template):
    """Take some dollars off the price of a product that has near-duplicates."""

    name = "admin.reduce-price"
    kind = "mutate"
    chore = "calculation"
    instruction = "Reduce the price of the product with the SKU {sku} by {percent} percent, rounded to whole cents."
    levels = ("easy",)

    user: str
    sku: str
    percent: int

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.some_row(
            worlds["admin"],
            stream,
            "SELECT sku FROM products WHERE list_price_cents IS NULL AND price_cents BETWEEN 1000 AND 20000"
            " AND id % 7 = 2 ORDER BY id",
        )
        drawn = cls(office.chief(stream), found["sku"], stream.choice((15, 20, 25, 30))) if found else None
        # A half cent could be rounded either way.
        return (
            drawn
            if drawn and office.product(worlds["admin"], drawn.sku)["price_cents"] * drawn.percent % 100 != 50
            else None
        )

    def _reduced(self, cents: int) -> int:
        return round(cents * (100 - self.percent) / 100)

    def key(self, worlds: Worlds) -> Key:
        product = office.product(worlds["admin"], self.sku)
        price = office.amount(product["price_cents"])
        plain = price.replace("$", "").replace(",", "")
        change = Key.update("products", where={"id": product["id"]}, price_cents=self._reduced(product["price_cents"]))
        known = fact(shown(self.sku, price), shown(self.sku, plain, together="page"))
        return (
            change
            & Key.seen_share(1.0, [known])
            & Key.checkpoint("the product", office.page(f"/products/{product['id']}"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        product = office.product(worlds["admin"], self.sku)
        off = product["price_cents"] - self.percent * 100
        wrong = off if off > 0 else product["price_cents"] + 100
        return {"dollars-for-percent": Key.update("products", where={"id": product["id"]}, price_cents=wrong)}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=2, steps=9)

    def _save(self, page: Observation, dollars: bool = False) -> Walk:
        box = next(page.find_all("textbox", "Price"))
        cents = round(float(box.value or 0) * 100)
        off = cents - self.percent * 100
        price = (off if off > 0 else cents + 100) if dollars else self._reduced(cents)
        page = yield from fill(page, "textbox", "Price", f"{price // 100}.{price % 100:02d}")
        return (yield from submit(page, "Save"))

    def solve(self, page: Observation) -> Walk:
        page = yield from pages.open_product(page, self.sku)
        return (yield from self._save(page))

    def routes(self) -> Mapping[str, Route]:
        return {"by-filter": self._by_filter}

    def _by_filter(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Products")
        page = yield from pages.narrow(page, {"SKU": self.sku})
        page = yield from click(page, "link", pages.lines(page)[0]["Name"])
        return (yield from self._save(page))

    def hasty(self) -> Mapping[str, Route]:
        return {
            "dollars-for-percent": then(
                lambda page: pages.open_product(page, self.sku), lambda page: self._save(page, dollars=True)
            )
        }


@dataclass(frozen=True)
class AddColor(Template):
    """Offer a product in a color that the shop does not know yet."""

    name = "admin.new-color"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        'Offer "{product}" (SKU {sku}) in the color {color} as well. Where the back office does not know the color '
        "yet, add it to its colors first."
    )
    levels = ("medium",)

    user: str
    product: str
    sku: str
    color: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.some_row(
            worlds["admin"],
            stream,
            "SELECT DISTINCT p.name, p.sku FROM products AS p JOIN product_options AS o ON o.product_id = p.id"
            " AND o.name = 'Color' ORDER BY p.id",
        )
        color = stream.choice(("Sunflower", "Petrol", "Brick", "Moss", "Ice Blue", "Lilac", "Chalk"))
        known = office.rows(worlds["admin"], "SELECT 1 FROM attribute_values WHERE value = ?", color)
        return None if found is None or known else cls(office.chief(stream), found["name"], found["sku"], color)

    def key(self, worlds: Worlds) -> Key:
        product = office.product(worlds["admin"], self.sku)
        return (
            self._known()
            & Key.insert("product_options", product_id=product["id"], name="Color", value=self.color)
            & Key.seen_any(shown(self.sku, "Configurations", together="page"), shown(self.product, self.sku))
            & Key.checkpoint("the product", office.page(f"/products/{product['id']}"))
            & Key.checkpoint("the attributes", office.page("/attributes"))
        )

    def _known(self) -> Key:
        """The color among those of the back office."""
        return Key.insert("attribute_values", attribute="Color", value=self.color)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"only-known": self._known()}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=2, pages=3, steps=11, longest=15)

    def _add_color(self, page: Observation) -> Steps:
        page = yield from click(page, "link", "Attributes")
        page = yield from fill(page, "textbox", "New Color", self.color)
        return (yield from click(page, "button", "Add Color"))

    def _offer(self, page: Observation) -> Walk:
        page = yield from choose(page, "New Color", self.color)
        return (yield from submit(page, "Add Color"))

    def solve(self, page: Observation) -> Walk:
        page = yield from self._add_color(page)
        page = yield from _open_at(page, "Products", self.sku, self.product)
        return (yield from self._offer(page))

    def routes(self) -> Mapping[str, Route]:
        return {"product-first": self._product_first}

    def _product_first(self, page: Observation) -> Walk:
        page = yield from _open_at(page, "Products", self.sku, self.product)
        page = yield from self._add_color(page)
        page = yield from _open_at(page, "Products", self.sku, self.product)
        return (yield from self._offer(page))

    def hasty(self) -> Mapping[str, Route]:
        return {"only-known": self._only_known}

    def _only_known(self, page: Observation) -> Walk:
        yield from self._add_color(page)
        return done("mutate")


# --- pages and rules --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RetitlePage(Template):
    """Give a page of the storefront another title."""

    name = "admin.retitle-page"
    kind = "mutate"
    chore = "others"
    instruction = 'Change the title of the page with the URL key "{url_key}" to "{title}".'
    levels = ("easy",)

    user: str
    url_key: str
    title: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = office.some_row(worlds["admin"], stream, "SELECT url_key FROM cms_pages ORDER BY id")
        titles = ("Good to Know", "A Word From Us", "Questions and Answers", "The Small Print", "Oops, Nothing Here")
        return cls(office.chief(stream), found["url_key"], stream.choice(titles)) if found else None

    def _page(self, worlds: Worlds) -> Row:
        (found,) = office.rows(worlds["admin"], "SELECT * FROM cms_pages WHERE url_key = ?", self.url_key)
        return found

    def key(self, worlds: Worlds) -> Key:
        page = self._page(worlds)
        return (
            Key.update("cms_pages", where={"id": page["id"]}, title=self.title)
            & Key.seen_any(shown(page["title"], self.url_key), shown(page["title"], self.url_key, together="page"))
            & Key.checkpoint("the page", office.page(f"/pages/{page['id']}"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        page = self._page(worlds)
        other = 1 if page["id"] != 1 else 2
        return {"first-page": Key.update("cms_pages", where={"id": other}, title=self.title)}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=8, pages=2, steps=7)

    def _save_at(self, page: Observation, url_key: str) -> Walk:
        line = next(one for one in pages.lines(page) if one["URL Key"] == url_key)
        page = yield from click(page, "link", line["Title"])
        page = yield from fill(page, "textbox", "Page Title", self.title)
        return (yield from submit(page, "Save Page"))

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Pages")
        return (yield from self._save_at(page, self.url_key))

    def routes(self) -> Mapping[str, Route]:
        return {"by-keyword": self._by_keyword}

    def _by_keyword(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Pages")
        page = yield from pages.search(page, self.url_key)
        return (yield from self._save_at(page, self.url_key))

    def hasty(self) -> Mapping[str, Route]:
        return {"first-page": self._first}

    def _first(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Pages")
        other = next(one["URL Key"] for one in pages.lines(page) if one["URL Key"] != self.url_key)
        return (yield from self._save_at(page, other))


@dataclass(frozen=True)
class NewPriceRule(Template):
    """Draft a price rule for a department."""

    name = "admin.new-price-rule"
    kind = "mutate"
    chore = "others"
    instruction = (
        'Draft a catalog price rule with the name "{rule}" that takes as many percent off {department} as the rule '
        '"{model}" took off, from {first} to {last}. Do not apply it yet.'
    )
    levels = ("medium",)

    user: str
    rule: str
    department: str
    model: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        model = office.some_row(worlds["admin"], stream, "SELECT * FROM price_rules ORDER BY id")
        department = office.some_row(
            worlds["admin"], stream, "SELECT id, name FROM categories WHERE level = 1 ORDER BY id"
        )
        if model is None or department is None or model["department_id"] == department["id"]:
            return None
        first = stream.between(2, 20)
        return cls(
            office.chief(stream), f"{stream.choice(('Easter', 'Mill Day', 'April'))} Offer {stream.between(1, 9)}",
            department["name"], model["name"], f"2026-04-{first:02d}", f"2026-04-{first + stream.between(2, 9):02d}",
        )  # fmt: skip

    def _rule(self, worlds: Worlds, department: int | None, percent: int) -> Key:
        return Key.insert(
            "price_rules", name=self.rule, department_id=department, percent=percent, starts_on=self.first,
            ends_on=self.last, status="inactive",
        )  # fmt: skip

    def _truth(self, worlds: Worlds) -> tuple[int, int]:
        (model,) = office.rows(worlds["admin"], "SELECT * FROM price_rules WHERE name = ?", self.model)
        (place,) = office.rows(
            worlds["admin"], "SELECT id FROM categories WHERE level = 1 AND name = ?", self.department
        )
        return int(place["id"]), int(model["percent"])

    def key(self, worlds: Worlds) -> Key:
        department, percent = self._truth(worlds)
        return (
            self._rule(worlds, department, percent)
            & Key.seen_any(shown(self.model, str(percent)), shown(self.model, str(percent), together="page"))
            & Key.checkpoint("the rules", office.page("/price-rules"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        _, percent = self._truth(worlds)
        return {"for-all-goods": self._rule(worlds, None, percent)}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=24, pages=2, steps=13)

    def _model_percent(self, page: Observation, search: bool) -> Reading[tuple[Observation, str]]:
        page = yield from click(page, "link", "Catalog Price Rules")
        if search:
            page = yield from pages.search(page, self.model.split(":")[0])
        else:
            page = yield from pages.lengthen(page)
        line = next(one for one in pages.lines(page) if one["Rule"] == self.model)
        return page, line["Percent Off"]

    def _fill(self, page: Observation, percent: str, everything: bool = False) -> Walk:
        page = yield from click(page, "link", "Add New Rule")
        page = yield from fill(page, "textbox", "Rule Name", self.rule)
        if not everything:
            page = yield from choose(page, "Department", self.department)
        page = yield from fill(page, "textbox", "Discount in Percent", percent)
        page = yield from fill(page, "textbox", "From", office.typed(self.first))
        page = yield from fill(page, "textbox", "To", office.typed(self.last))
        return (yield from submit(page, "Save Rule"))

    def solve(self, page: Observation) -> Walk:
        page, percent = yield from self._model_percent(page, search=True)
        return (yield from self._fill(page, percent))

    def routes(self) -> Mapping[str, Route]:
        return {"reading-the-list": self._by_list}

    def _by_list(self, page: Observation) -> Walk:
        page, percent = yield from self._model_percent(page, search=False)
        return (yield from self._fill(page, percent))

    def hasty(self) -> Mapping[str, Route]:
        return {"for-all-goods": self._all_goods}

    def _all_goods(self, page: Observation) -> Walk:
        page, percent = yield from self._model_percent(page, search=True)
        return (yield from self._fill(page, percent, everything=True))
