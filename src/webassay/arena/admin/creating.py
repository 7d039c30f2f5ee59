"""Making something new after the model of something that is there."""

from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, cell
from webassay.arena.kit.template import Mutate, Parts, fair
from webassay.arena.kit.walking import links, need, submit
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import World
from webassay.sites.rng import Stream

TODAY = "2026-03-01"


def _value(page: Observation, role: str, name: str) -> str:
    return need(page, role, name).value or ""


class NewProduct(Mutate):
    """Add a product beside another one, with its brand, category and attribute set."""

    name = "admin.new-product"
    chore = "long_term_memory"
    instruction = (
        'Add a product named "{title}" with the SKU {sku}. The price is ${price}, the quantity is {stock}, and the '
        'weight is {weight} oz. The description is "{text}". Brand, category, and attribute set are the same as for '
        "the product with the SKU {model}. It has no size and no color."
    )
    levels = ("medium",)
    misread = {"set-left-alone": {"leave_set": True}}
    ways = {"by-filter": {"by_filter": True}}

    user: str
    title: str
    sku: str
    text: str
    price: str
    stock: int
    weight: int
    model: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        models = office.rows(
            world,
            "SELECT sku FROM products WHERE attribute_set NOT IN ('Default', 'Clothing', 'Shoes') AND id % 5 = 1"
            " ORDER BY id",
        )
        model = stream.choice(models)["sku"]
        word = stream.choice(("Compact", "Weekend", "Second-Generation", "Large", "Limited", "Restyled"))
        title = f"{word} Edition {stream.between(10, 99)}"
        sku = f"NEW-{stream.between(10000, 99999)}"
        text = stream.choice(("Made for us", "Back by popular demand", "For a short time only"))
        return cls(
            office.chief(stream), title, sku, text, f"{stream.between(9, 199)}.{stream.choice((49, 95, 99))}",
            stream.between(5, 250), stream.between(3, 90), model,
        )  # fmt: skip

    def end(self, world: World, *, leave_set: bool = False) -> Parts:
        yield fair(not office.rows(world, "SELECT 1 FROM products WHERE sku = ? OR name = ?", self.sku, self.title))
        model = office.product(world, self.model)
        group = model["attribute_set"]
        yield Key.insert(
            "products", sku=self.sku, category_id=model["category_id"], name=self.title, brand=model["brand"],
            color="", size="", price_cents=pages.cents(self.price), weight_oz=self.weight, stock=self.stock,
            first_available=TODAY, description=self.text, highlights="", picture="box", origin="",
            warranty_months=0, enabled=1, attribute_set="Default" if leave_set else group,
        )  # fmt: skip
        yield Key.read(cell("products", model["id"], "attribute_set"))
        yield Key.checkpoint("the model", office.page(f"/products/{model['id']}"))
        yield Effort(rows=1, pages=3, steps=18)

    def solve(self, page: Observation, *, leave_set: bool = False, by_filter: bool = False) -> Walk:
        page = yield from pages.open_product(page, self.model, by_filter)
        typed = {
            "Product Name": self.title, "SKU": self.sku, "Quantity": str(self.stock), "Price": self.price,
            "Brand": _value(page, "textbox", "Brand"), "Weight (oz)": str(self.weight), "Description": self.text,
        }  # fmt: skip
        copied = ("Category",) if leave_set else ("Category", "Attribute Set")
        chosen = {name: _value(page, "combobox", name) for name in copied}
        page = yield from links(page, "Products", "Add Product")
        return (yield from submit(page, "Save", typed, chosen))


class NewCoupon(Mutate):
    """Create a coupon after the model of another one, for other goods."""

    name = "admin.new-coupon"
    chore = "others"
    instruction = (
        "Create a cart price rule with the coupon code {code}. It gives the same discount as {model} and has the "
        "same minimum subtotal, but it is for the department {department}. It is valid from {first} through {last}."
    )
    levels = ("medium",)
    misread = {"for-all-goods": {"everything": True}, "no-minimum": {"no_minimum": True}}
    ways = {"by-address": {"by_address": True}}

    user: str
    code: str
    model: str
    department: str
    first: str
    last: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        models = office.rows(
            world, "SELECT code FROM coupons WHERE kind <> 'shipping' AND minimum_cents > 0 ORDER BY code"
        )
        model, department = stream.choice(models)["code"], stream.choice([*office.departments(world)])
        code = f"{stream.choice(('MILL', 'APRIL', 'HELLO', 'TALLY'))}{stream.between(100, 999)}"
        first, user = stream.between(2, 20), office.chief(stream)
        last = first + stream.between(2, 9)
        return cls(user, code, model, department, f"2026-04-{first:02d}", f"2026-04-{last:02d}")

    def end(self, world: World, *, everything: bool = False, no_minimum: bool = False) -> Parts:
        (model,) = office.rows(world, "SELECT * FROM coupons WHERE code = ?", self.model)
        department, minimum = office.departments(world)[self.department], model["minimum_cents"]
        yield fair(model["department_id"] != department)
        yield fair(not office.rows(world, "SELECT 1 FROM coupons WHERE code = ?", self.code))
        yield Key.insert(
            "coupons", code=self.code, kind=model["kind"], value=model["value"],
            department_id=None if everything else department, minimum_cents=0 if no_minimum else minimum,
            starts_on=self.first, ends_on=self.last,
        )  # fmt: skip
        yield Key.read(cell("coupons", self.model, "minimum_cents"))
        yield Key.checkpoint("the coupons", office.page("/coupons"))
        yield Effort(rows=1, pages=3, steps=17)

    def solve(
        self, page: Observation, *, everything: bool = False, no_minimum: bool = False, by_address: bool = False
    ) -> Walk:
        if by_address:
            page = yield from pages.goto(page, f"/coupons/{self.model}")
        else:
            page = yield from pages.searched(page, "Cart Price Rules", self.model)
            page = yield from links(page, self.model)
        copied = {name: _value(page, "textbox", name) for name in ("Discount Amount (optional)", "Minimum Subtotal")}
        if no_minimum:
            copied["Minimum Subtotal"] = "0.00"
        days = {"From": office.typed(self.first), "To": office.typed(self.last)}
        chosen = {"Discount": _value(page, "combobox", "Discount")}
        if not everything:
            chosen["Department"] = self.department
        page = yield from links(page, "Cart Price Rules", "Add New Rule")
        return (yield from submit(page, "Save Rule", {"Coupon Code": self.code, **copied, **days}, chosen))
