"""Making something new after the model of something that is there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, fact, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, choose, click, fill, need, submit
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row
from webassay.sites.rng import Stream

TODAY = "2026-03-01"
_DISCOUNT = "Discount Amount (optional)"


@dataclass(frozen=True)
class NewProduct(Template):
    """Add a product beside another one, with its brand, category and attribute set."""

    name = "admin.new-product"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        'Add a product with the name "{title}", the SKU {sku} and the description "{text}". It costs ${price}, '
        "the quantity is {stock}, and it weighs {weight} oz. Give it the same brand, category and attribute set as the "
        "product with the SKU {model}, and no size or color."
    )
    levels = ("medium",)

    user: str
    title: str
    sku: str
    text: str
    price: str
    stock: int
    weight: int
    model: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        model = office.some_row(
            worlds["admin"],
            stream,
            "SELECT sku FROM products WHERE attribute_set NOT IN ('Default', 'Clothing', 'Shoes') AND id % 5 = 1"
            " ORDER BY id",
        )
        if model is None:
            return None
        word = stream.choice(("Compact", "Weekend", "Second-Generation", "Large", "Limited", "Restyled"))
        title = f"{word} Edition {stream.between(10, 99)}"
        sku = f"NEW-{stream.between(10000, 99999)}"
        known = office.rows(worlds["admin"], "SELECT 1 FROM products WHERE sku = ? OR name = ?", sku, title)
        text = stream.choice(("Made for us", "Back by popular demand", "For a short time only"))
        return None if known else cls(
            office.chief(stream), title, sku, text, f"{stream.between(9, 199)}.{stream.choice((49, 95, 99))}",
            stream.between(5, 250), stream.between(3, 90), model["sku"],
        )  # fmt: skip

    def _made(self, worlds: Worlds, attribute_set: str) -> Key:
        model = office.product(worlds["admin"], self.model)
        return Key.insert(
            "products", sku=self.sku, category_id=model["category_id"], name=self.title, brand=model["brand"],
            color="", size="", price_cents=pages.cents(self.price), weight_oz=self.weight, stock=self.stock,
            first_available=TODAY, description=self.text, highlights="", picture="box", origin="",
            warranty_months=0, enabled=1, attribute_set=attribute_set,
        )  # fmt: skip

    def key(self, worlds: Worlds) -> Key:
        model = office.product(worlds["admin"], self.model)
        known = fact(
            shown(self.model, model["brand"], model["attribute_set"], together="page"),
            shown(self.model, model["attribute_set"]),
        )
        return (
            self._made(worlds, model["attribute_set"])
            & Key.seen_share(1.0, [known])
            & Key.checkpoint("the model", office.page(f"/products/{model['id']}"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        return {"set-left-alone": self._made(worlds, "Default")}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=3, steps=18)

    def _model(self, page: Observation, by_filter: bool) -> Reading[tuple[Observation, tuple[str, str, str]]]:
        if by_filter:
            page = yield from click(page, "link", "Products")
            page = yield from pages.narrow(page, {"SKU": self.model})
            page = yield from click(page, "link", pages.lines(page)[0]["Name"])
        else:
            page = yield from pages.open_product(page, self.model)
        brand = need(page, "textbox", "Brand").value or ""
        chosen = [need(page, "combobox", name).value or "" for name in ("Category", "Attribute Set")]
        return page, (brand, chosen[0], chosen[1])

    def _add(self, page: Observation, model: tuple[str, str, str], leave_set: bool = False) -> Walk:
        brand, category, group = model
        page = yield from click(page, "link", "Products")
        page = yield from click(page, "link", "Add Product")
        typed = {
            "Product Name": self.title, "SKU": self.sku, "Quantity": str(self.stock), "Price": self.price,
            "Brand": brand, "Weight (oz)": str(self.weight), "Description": self.text,
        }  # fmt: skip
        for name, value in typed.items():
            page = yield from fill(page, "textbox", name, value)
        page = yield from choose(page, "Category", category)
        if not leave_set:
            page = yield from choose(page, "Attribute Set", group)
        return (yield from submit(page, "Save"))

    def solve(self, page: Observation) -> Walk:
        return (yield from self._add(*(yield from self._model(page, by_filter=False))))

    def routes(self) -> Mapping[str, Route]:
        return {"by-filter": self._by_filter}

    def _by_filter(self, page: Observation) -> Walk:
        return (yield from self._add(*(yield from self._model(page, by_filter=True))))

    def hasty(self) -> Mapping[str, Route]:
        return {"set-left-alone": self._left_alone}

    def _left_alone(self, page: Observation) -> Walk:
        page, model = yield from self._model(page, by_filter=False)
        return (yield from self._add(page, model, leave_set=True))


@dataclass(frozen=True)
class NewCoupon(Template):
    """Create a coupon after the model of another one, for other goods."""

    name = "admin.new-coupon"
    kind = "mutate"
    chore = "others"
    instruction = (
        "Create a cart price rule with the coupon code {code}. It gives the same discount as {model}, with the same "
        "minimum subtotal, but on goods of the department {department}, and is valid from {first} to {last}, both days "
        "included."
    )
    levels = ("medium",)

    user: str
    code: str
    model: str
    department: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        models = office.rows(
            worlds["admin"], "SELECT * FROM coupons WHERE kind <> 'shipping' AND minimum_cents > 0 ORDER BY code"
        )
        places = office.rows(worlds["admin"], "SELECT id, name FROM categories WHERE level = 1 ORDER BY id")
        model, place = office.pick(stream, models), office.pick(stream, places)
        if model is None or place is None or model["department_id"] == place["id"]:
            return None
        code = f"{stream.choice(('MILL', 'APRIL', 'HELLO', 'TALLY'))}{stream.between(100, 999)}"
        known = office.rows(worlds["admin"], "SELECT 1 FROM coupons WHERE code = ?", code)
        first = stream.between(2, 20)
        return None if known else cls(
            office.chief(stream), code, model["code"], place["name"], f"2026-04-{first:02d}",
            f"2026-04-{first + stream.between(2, 9):02d}",
        )  # fmt: skip

    def _truth(self, worlds: Worlds) -> tuple[Row, int]:
        (model,) = office.rows(worlds["admin"], "SELECT * FROM coupons WHERE code = ?", self.model)
        (place,) = office.rows(
            worlds["admin"], "SELECT id FROM categories WHERE level = 1 AND name = ?", self.department
        )
        return model, int(place["id"])

    def _made(self, model: Row, department: int | None, minimum: int) -> Key:
        return Key.insert(
            "coupons", code=self.code, kind=model["kind"], value=model["value"], department_id=department,
            minimum_cents=minimum, starts_on=self.first, ends_on=self.last,
        )  # fmt: skip

    def key(self, worlds: Worlds) -> Key:
        model, department = self._truth(worlds)
        minimum = office.amount(model["minimum_cents"])
        plain = minimum.lstrip("$").replace(",", "")
        return (
            self._made(model, department, model["minimum_cents"])
            & Key.seen_any(shown(self.model, minimum), shown(self.model, plain, together="page"))
            & Key.checkpoint("the coupons", office.page("/coupons"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        model, department = self._truth(worlds)
        return {
            "for-all-goods": self._made(model, None, model["minimum_cents"]),
            "no-minimum": self._made(model, department, 0),
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=3, steps=17)

    def _model(self, page: Observation, search: bool) -> Reading[tuple[Observation, tuple[str, str, str]]]:
        if search:
            page = yield from click(page, "link", "Cart Price Rules")
            page = yield from pages.search(page, self.model)
            page = yield from click(page, "link", self.model)
        else:
            page = yield from pages.goto(page, f"/coupons/{self.model}")
        value, minimum = (need(page, "textbox", name).value or "" for name in (_DISCOUNT, "Minimum Subtotal"))
        return page, (need(page, "combobox", "Discount").value or "", value, minimum)

    def _add(self, page: Observation, model: tuple[str, str, str], everything: bool = False) -> Walk:
        kind, value, minimum = model
        page = yield from click(page, "link", "Cart Price Rules")
        page = yield from click(page, "link", "Add New Rule")
        page = yield from fill(page, "textbox", "Coupon Code", self.code)
        page = yield from choose(page, "Discount", kind)
        page = yield from fill(page, "textbox", _DISCOUNT, value)
        if not everything:
            page = yield from choose(page, "Department", self.department)
        page = yield from fill(page, "textbox", "Minimum Subtotal", minimum)
        page = yield from fill(page, "textbox", "From", office.typed(self.first))
        page = yield from fill(page, "textbox", "To", office.typed(self.last))
        return (yield from submit(page, "Save Rule"))

    def solve(self, page: Observation) -> Walk:
        return (yield from self._add(*(yield from self._model(page, search=True))))

    def routes(self) -> Mapping[str, Route]:
        return {"by-address": self._by_address}

    def _by_address(self, page: Observation) -> Walk:
        return (yield from self._add(*(yield from self._model(page, search=False))))

    def hasty(self) -> Mapping[str, Route]:
        return {"for-all-goods": self._all_goods, "no-minimum": self._no_minimum}

    def _all_goods(self, page: Observation) -> Walk:
        page, model = yield from self._model(page, search=True)
        return (yield from self._add(page, model, everything=True))

    def _no_minimum(self, page: Observation) -> Walk:
        page, (kind, value, _) = yield from self._model(page, search=True)
        return (yield from self._add(page, (kind, value, "0.00")))
