"""Filling in the forms of the back office: an order, a product, a page, a rule."""

from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.admin.buyers import OldestPending
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, cell
from webassay.arena.kit.template import Mutate, Parts, fair
from webassay.arena.kit.walking import Steps, click, done, links, need, send, submit
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

ADMINS = {"greta.holm": 1, "owen.baptiste": 2}
CARRIERS = ("UPS", "FedEx", "USPS", "DHL")
MESSAGES = (
    "The parcel leaves our warehouse tomorrow.",
    "One article is late; everything comes together next week.",
    "Please call us about the delivery address.",
    "We have upgraded the shipping at no cost.",
)


# --- orders -----------------------------------------------------------------------------------------------


class CommentOldest(OldestPending):
    """Comment on the oldest pending order of a buyer, and notify them."""

    name = "admin.comment-oldest"
    instruction = (
        'Add the comment "{message}" to the oldest pending order with the bill-to name {buyer}. Notify the customer '
        "by email."
    )
    misread = {**OldestPending.misread, "not-notified": {"slip": True}}
    takes = (2, 11)

    message: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        buyer = cls.some_buyer(world, stream)
        return cls(office.chief(stream), buyer, stream.choice(MESSAGES))

    def change(self, world: World, order: Row, slip: bool) -> Parts:
        yield Key.insert(
            "order_comments", order_id=order["id"], admin_id=ADMINS[self.user], status="pending", comment=self.message,
            notified=int(not slip),
        )  # fmt: skip

    def act(self, page: Observation, slip: bool) -> Steps:
        if not slip:
            page = yield from click(page, "checkbox", "Notify Customer by Email")
        return (yield from send(page, "Submit Comment", {"Comment": self.message}))


class ShipOldest(OldestPending):
    """Ship the oldest pending order of a buyer with a tracking number."""

    name = "admin.ship-oldest"
    instruction = (
        "We gave the parcel for the oldest pending order with the bill-to name {buyer} to {carrier}. Enter the "
        "shipment with the tracking number {tracking}."
    )
    takes = (2, 12)

    carrier: str
    tracking: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        buyer = cls.some_buyer(world, stream)
        code = f"{stream.choice(('TX', 'PQ', 'ZL'))}{stream.between(10**8, 10**9 - 1)}"
        return cls(office.chief(stream), buyer, stream.choice(CARRIERS), code)

    def change(self, world: World, order: Row, slip: bool) -> Parts:
        shipment = Key.insert("shipments", order_id=order["id"], carrier=self.carrier, tracking=self.tracking)
        yield shipment & Key.update("orders", where={"id": order["id"]}, status="processing")

    def act(self, page: Observation, slip: bool) -> Steps:
        page = yield from links(page, "Ship")
        typed = {"Tracking Number (optional)": self.tracking}
        return (yield from send(page, "Submit Shipment", typed, {"Carrier": self.carrier}))


# --- products ---------------------------------------------------------------------------------------------


class ReducePrice(Mutate):
    """Take some dollars off the price of a product that has near-duplicates."""

    name = "admin.reduce-price"
    chore = "calculation"
    instruction = "Lower the price of the product with the SKU {sku} by {percent} percent, rounded to the nearest cent."
    levels = ("easy",)
    misread = {"dollars-for-percent": {"dollars": True}}
    ways = {"by-filter": {"by_filter": True}}

    user: str
    sku: str
    percent: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        products = office.rows(
            world,
            "SELECT sku FROM products WHERE list_price_cents IS NULL AND price_cents BETWEEN 1000 AND 20000"
            " AND id % 7 = 2 ORDER BY id",
        )
        sku = stream.choice(products)["sku"]
        return cls(office.chief(stream), sku, stream.choice((15, 20, 25, 30)))

    def _reduced(self, cents: int, dollars: bool) -> int:
        if dollars:
            off = cents - self.percent * 100
            return off if off > 0 else cents + 100
        return round(cents * (100 - self.percent) / 100)

    def end(self, world: World, *, dollars: bool = False) -> Parts:
        product = office.product(world, self.sku)
        cents = product["price_cents"]
        # A half cent could be rounded either way.
        yield fair(cents * self.percent % 100 != 50)
        yield Key.update("products", where={"id": product["id"]}, price_cents=self._reduced(cents, dollars))
        yield Key.read(cell("products", product["id"], "price_cents"))
        yield Key.checkpoint("the product", office.page(f"/products/{product['id']}"))
        yield Effort(rows=1, pages=2, steps=9)

    def solve(self, page: Observation, *, dollars: bool = False, by_filter: bool = False) -> Walk:
        page = yield from pages.open_product(page, self.sku, by_filter)
        cents = pages.cents(need(page, "textbox", "Price").value or "0")
        return (yield from submit(page, "Save", {"Price": office.plain(self._reduced(cents, dollars))}))


class AddColor(Mutate):
    """Offer a product in a color that the shop does not know yet."""

    name = "admin.new-color"
    chore = "long_term_memory"
    instruction = (
        'Add the color {color} to "{product}" (SKU {sku}), next to the colors it has. If {color} is not in our list '
        "of colors yet, add it there first."
    )
    levels = ("medium",)
    misread = {"only-known": {"only_known": True}}
    ways = {"product-first": {"product_first": True}}

    user: str
    product: str
    sku: str
    color: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        products = office.rows(
            world,
            "SELECT DISTINCT p.name, p.sku FROM products AS p JOIN product_options AS o ON o.product_id = p.id"
            " AND o.name = 'Color' ORDER BY p.id",
        )
        product = stream.choice(products)
        color = stream.choice(("Sunflower", "Petrol", "Brick", "Moss", "Ice Blue", "Lilac", "Chalk"))
        return cls(office.chief(stream), product["name"], product["sku"], color)

    def end(self, world: World, *, only_known: bool = False) -> Parts:
        """Some only add it to the colors that the back office knows."""
        yield fair(not office.rows(world, "SELECT 1 FROM attribute_values WHERE value = ?", self.color))
        product = office.product(world, self.sku)["id"]
        known = Key.insert("attribute_values", attribute="Color", value=self.color)
        offered = Key.insert("product_options", product_id=product, name="Color", value=self.color)
        yield known if only_known else known & offered
        yield Key.read(cell("products", product))
        yield Key.checkpoint("the product", office.page(f"/products/{product}"))
        yield Key.checkpoint("the attributes", office.page("/attributes"))
        yield Effort(rows=2, pages=3, steps=11, longest=15)

    def solve(self, page: Observation, *, only_known: bool = False, product_first: bool = False) -> Walk:
        if product_first:
            page = yield from pages.open_product(page, self.sku)
        page = yield from links(page, "Attributes")
        page = yield from send(page, "Add Color", {"New Color": self.color})
        if not only_known:
            page = yield from pages.open_product(page, self.sku)
            yield from send(page, "Add Color", chosen={"New Color": self.color})
        return done("mutate")


# --- pages and rules --------------------------------------------------------------------------------------


class RetitlePage(Mutate):
    """Give a page of the storefront another title."""

    name = "admin.retitle-page"
    chore = "others"
    instruction = 'Change the title of the page with the URL key "{url_key}" to "{title}".'
    levels = ("easy",)
    misread = {"first-page": {"first": True}}
    ways = {"by-keyword": {"by_keyword": True}}

    user: str
    url_key: str
    title: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        url_key = stream.choice(office.rows(world, "SELECT * FROM cms_pages ORDER BY id"))["url_key"]
        titles = ("Good to Know", "A Word From Us", "Questions and Answers", "The Small Print", "Oops, Nothing Here")
        return cls(office.chief(stream), url_key, stream.choice(titles))

    def end(self, world: World, *, first: bool = False) -> Parts:
        """Or the first page with another key."""
        listed = office.rows(world, "SELECT * FROM cms_pages ORDER BY id")
        page = next(one for one in listed if (one["url_key"] == self.url_key) != first)
        yield Key.update("cms_pages", where={"id": page["id"]}, title=self.title)
        yield Key.read(cell("cms_pages", page["id"]))
        yield Key.checkpoint("the page", office.page(f"/pages/{page['id']}"))
        yield Effort(rows=8, pages=2, steps=7)

    def solve(self, page: Observation, *, first: bool = False, by_keyword: bool = False) -> Walk:
        page = yield from links(page, "Pages")
        if by_keyword:
            page = yield from pages.search(page, self.url_key)
        line = next(one for one in pages.lines(page) if (one["URL Key"] == self.url_key) != first)
        page = yield from links(page, line["Title"])
        return (yield from submit(page, "Save Page", {"Page Title": self.title}))


class NewPriceRule(Mutate):
    """Draft a price rule for a department."""

    name = "admin.new-price-rule"
    chore = "others"
    instruction = (
        'Draft a catalog price rule named "{rule}" for {department}. It takes the same percentage off as the rule '
        '"{model}" and runs from {first} through {last}. Do not apply it yet.'
    )
    levels = ("medium",)
    misread = {"for-all-goods": {"everything": True}}
    ways = {"reading-the-list": {"reading": True}}

    user: str
    rule: str
    department: str
    model: str
    first: str
    last: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        model = stream.choice(office.rows(world, "SELECT * FROM price_rules ORDER BY id"))["name"]
        department = stream.choice([*office.departments(world)])
        first = stream.between(2, 20)
        return cls(
            office.chief(stream), f"{stream.choice(('Easter', 'Mill Day', 'April'))} Offer {stream.between(1, 9)}",
            department, model, f"2026-04-{first:02d}", f"2026-04-{first + stream.between(2, 9):02d}",
        )  # fmt: skip

    def end(self, world: World, *, everything: bool = False) -> Parts:
        (model,) = office.rows(world, "SELECT * FROM price_rules WHERE name = ?", self.model)
        department = office.departments(world)[self.department]
        yield fair(model["department_id"] != department)
        yield Key.insert(
            "price_rules", name=self.rule, department_id=None if everything else department, percent=model["percent"],
            starts_on=self.first, ends_on=self.last, status="inactive",
        )  # fmt: skip
        yield Key.read(cell("price_rules", model["id"], "percent"))
        yield Key.checkpoint("the rules", office.page("/price-rules"))
        yield Effort(rows=24, pages=2, steps=13)

    def solve(self, page: Observation, *, everything: bool = False, reading: bool = False) -> Walk:
        page = yield from links(page, "Catalog Price Rules")
        page = yield from (pages.lengthen(page) if reading else pages.search(page, self.model.split(":")[0]))
        line = next(one for one in pages.lines(page) if one["Rule"] == self.model)
        page = yield from links(page, "Add New Rule")
        typed = {
            "Rule Name": self.rule, "Discount in Percent": line["Percent Off"],
            "From": office.typed(self.first), "To": office.typed(self.last),
        }  # fmt: skip
        return (yield from submit(page, "Save Rule", typed, {} if everything else {"Department": self.department}))
