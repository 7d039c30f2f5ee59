"""Products in the back office: attribute sets, configurations, links, new ones."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.admin.longlists import BetweenDays, LongList
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, fact, money, shown
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Reading, Steps, answer, click, done, fill, need
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Fact, Sight
from webassay.sites.kit import Row
from webassay.sites.rng import Stream

LINKS = {"related": "Related Products", "upsell": "Up-Sell Products", "crosssell": "Cross-Sell Products"}


@dataclass(frozen=True)
class SetsOfColor(LongList):
    """Count the products of a color by their attribute set."""

    name = "admin.sets-of-color"
    chore = "others"
    instruction = (
        "Of the products whose color is exactly {color}, how many have the attribute set {one}, and how many "
        'have {two}? Answer with one object with the keys "{one}" and "{two}".'
    )
    levels = ("medium", "hard")
    menu = "Products"
    path = "/products"
    column = "SKU"
    more_columns = ("Color",)

    user: str
    color: str
    one: str
    two: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        colors = office.rows(
            worlds["admin"],
            "SELECT color FROM products WHERE color <> '' GROUP BY color HAVING count(*) >= 15 ORDER BY 1",
        )
        found = office.pick(stream, colors)
        one, two = stream.sample(("Default", "Consumable", "Electrical"), 2)
        drawn = cls(office.chief(stream), found["color"], one, two) if found else None
        return drawn if drawn and all(drawn._counts(drawn._exactly(drawn.rows(worlds)))) else None

    def typed(self) -> Mapping[str, str]:
        return {"Color": self.color}

    def rows(self, worlds: Worlds) -> list[Row]:
        """Those of similar colors too, which the filter finds as well."""
        return office.rows(
            worlds["admin"], "SELECT * FROM products WHERE instr(lower(color), ?) ORDER BY id", self.color.lower()
        )

    def sight(self, row: Row) -> Fact:
        return fact(*self._ways(row))

    @staticmethod
    def _ways(row: Row) -> list[Sight]:
        """With the set in a column of its own, or as the filter."""
        group, names = row["attribute_set"], (row["sku"], row["name"])
        filtered = [shown(name, f"Attribute Set: {group}", together="page") for name in names]
        return [shown(name, group) for name in names] + filtered

    def _exactly(self, rows: list[Row]) -> list[Row]:
        return [one for one in rows if one["color"] == self.color]

    def _counts(self, rows: list[Row]) -> tuple[int, int]:
        sets = Counter(one["attribute_set"] for one in rows)
        return sets[self.one], sets[self.two]

    def _said(self, rows: list[Row]) -> Key:
        return Key.answer(dict(zip((self.one, self.two), self._counts(rows), strict=True)))

    def key(self, worlds: Worlds) -> Key:
        rows = self.rows(worlds)
        facts = [fact(*self._read_rows(rows, group), self._read_counts(rows, group)) for group in (self.one, self.two)]
        return (
            self._said(self._exactly(rows))
            & Key.seen_share(1.0, facts)
            & Key.checkpoint("the grid", office.page(self.path))
        )

    def _read_rows(self, rows: list[Row], group: str) -> Iterable[tuple[Sight, ...]]:
        inside = [one for one in self._exactly(rows) if one["attribute_set"] == group]
        return zip(*(self._ways(one) for one in office.spread(inside)), strict=True)

    @staticmethod
    def _read_counts(rows: list[Row], group: str) -> list[Sight]:
        """With both filters the grid counts by itself; what similar colors have is taken off."""
        inside = [one["color"] for one in rows if one["attribute_set"] == group]
        return [
            shown(
                f"Color: {color}", f"Attribute Set: {group}",
                office.counted(sum(color.lower() in one.lower() for one in inside), "products"), together="page",
            )
            for color in sorted(set(inside))
        ]  # fmt: skip

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        wrong = {"first-page-only": self._exactly(rows[: pages.FEW_ROWS]), "similar-colors": rows}
        return {
            name: self._said(found)
            for name, found in wrong.items()
            if name == "first-page-only" or len(found) > len(self._exactly(rows))
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        sets = Counter(one["Attribute Set"] for one in lines if one["Color"] == self.color)
        return answer({self.one: sets[self.one], self.two: sets[self.two]})


@dataclass(frozen=True)
class PriceOfUpdated(BetweenDays):
    """Average the prices of what was updated between two days."""

    name = "admin.price-of-updated"
    chore = "calculation"
    instruction = (
        "How many simple products with the attribute set {group} were last updated from {first} to {last}, both days "
        "included, and what is the average of their prices (the column Price), rounded to whole cents? Answer with one "
        'object with the keys "products" and "average".'
    )
    levels = ("medium", "hard", "extreme")
    menu = "Products"
    path = "/products"
    column = "Last Updated"
    more_columns = ("Last Updated",)

    user: str
    group: str
    first: str
    last: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        group = stream.choice(("Default", "Consumable", "Electrical"))
        drawn = cls(office.chief(stream), group, *office.some_days(stream, 1, 2, 4, 8, since=2025))
        rows = drawn.rows(worlds)
        # A half cent could be rounded either way.
        halves = bool(rows) and sum(one["price_cents"] for one in rows) * 2 % len(rows) == 0
        # Adding up is the chore: as many as one can still check, or so many that the list is the point.
        fitting = 25 <= len(rows) <= 80 or len(rows) >= 200
        return drawn if fitting and not halves else None

    def chosen(self) -> Mapping[str, str]:
        return {"Type": "Simple Product", "Attribute Set": self.group}

    def rows(self, worlds: Worlds) -> list[Row]:
        return self._rows(worlds, "attribute_set = ?", self.group)

    def _rows(self, worlds: Worlds, condition: str, *params: str) -> list[Row]:
        return office.rows(
            worlds["admin"],
            f"SELECT * FROM products WHERE {condition} AND substr(updated_at, 1, 10) BETWEEN ? AND ?"
            " AND id NOT IN (SELECT product_id FROM product_options) ORDER BY id",
            *params, self.first, self.last,
        )  # fmt: skip

    def sight(self, row: Row) -> Fact:
        return office.row_by((row["sku"], row["name"]), office.amount(row["price_cents"]))

    @staticmethod
    def _said(rows: list[Row]) -> Key:
        average = round(sum(one["price_cents"] for one in rows) / len(rows))
        return Key.answer({"products": len(rows), "average": money(average)})

    def key(self, worlds: Worlds) -> Key:
        return self._said(self.rows(worlds)) & self.read(worlds)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        rows = self.rows(worlds)
        return {
            "first-page-only": self._said(rows[: pages.FEW_ROWS]),
            "every-set": self._said(self._rows(worlds, "1")),
        }

    def findings(self, lines: list[pages.Line]) -> Json:
        prices = [pages.cents(one["Price"]) for one in lines]
        return answer({"products": len(prices), "average": pages.dollars(round(sum(prices) / len(prices)))})


@dataclass(frozen=True)
class MoreVariety(Template):
    """Find which of some products has the most variety, and count what is linked to it."""

    name = "admin.more-variety"
    kind = "retrieve"
    chore = "long_term_memory"
    instruction = (
        "Of the products with the SKUs {skus}, which comes in the most combinations of size and color? Answer with one "
        'object with the keys "sku", "combinations" (how many there are) and "linked" (how many related, up-sell and '
        "cross-sell products it has in all)."
    )
    reads = ("sku",)
    levels = ("medium", "hard")

    user: str
    skus: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        known = office.rows(
            worlds["admin"],
            "SELECT sku FROM products WHERE id IN (SELECT product_id FROM product_options) ORDER BY id",
        )
        some = stream.sample(known, min(stream.choice((3, 4, 8)), len(known)))
        drawn = cls(office.chief(stream), ", ".join(one["sku"] for one in some))
        ranked = drawn._ranked(worlds)
        if len(ranked) < 2:
            return None
        clear = ranked[0]["combinations"] > ranked[1]["combinations"] and ranked[0]["linked"] >= 3
        # Whoever has sizes only comes in as many combinations as sizes, or in none.
        return drawn if clear and all(one["combinations"] for one in ranked) else None

    def _skus(self) -> list[str]:
        return self.skus.split(", ")

    def _ranked(self, worlds: Worlds) -> list[Row]:
        found = office.rows(
            worlds["admin"],
            "SELECT id, sku, (SELECT count(*) FROM product_options WHERE product_id = p.id AND name = 'Size')"
            " * (SELECT count(*) FROM product_options WHERE product_id = p.id AND name = 'Color') AS combinations,"
            " (SELECT count(*) FROM product_links WHERE product_id = p.id) AS linked,"
            " (SELECT count(*) FROM product_links WHERE product_id = p.id AND kind = 'related') AS related"
            f" FROM products AS p WHERE sku IN ({', '.join('?' * len(self._skus()))})",
            *self._skus(),
        )
        return sorted(found, key=lambda one: -int(one["combinations"]))

    @staticmethod
    def _said(product: Row, linked: int) -> Key:
        return Key.answer({"sku": product["sku"], "combinations": product["combinations"], "linked": linked})

    def key(self, worlds: Worlds) -> Key:
        ranked = self._ranked(worlds)
        facts = [fact(shown(one["sku"], "Configurations", together="page")) for one in ranked]
        links = fact(shown(ranked[0]["sku"], f"Related Products ({ranked[0]['related']})", together="page"))
        return (
            self._said(ranked[0], ranked[0]["linked"])
            & Key.seen_share(1.0, [*facts, links])
            & Key.checkpoint("the product", office.page(f"/products/{ranked[0]['id']}"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        ranked = self._ranked(worlds)
        wrong = {"the-second": self._said(ranked[1], ranked[1]["linked"])}
        if ranked[0]["related"] != ranked[0]["linked"]:
            wrong["related-only"] = self._said(ranked[0], ranked[0]["related"])
        return wrong

    def effort(self, worlds: Worlds) -> Effort:
        count = len(self._skus())
        return Effort(rows=count, pages=2 * count, steps=2 + 4 * count, longest=2 + 6 * count)

    def _told(self, page: Observation, by_filter: bool) -> Walk:
        best = ("", 0, 0)
        for sku in self._skus():
            page = yield from (self._filtered(page, sku) if by_filter else pages.open_product(page, sku))
            combinations = len(_offered(page, "Size")) * len(_offered(page, "Color"))
            if combinations > best[1]:
                best = (sku, combinations, sum(_linked(page, title) for title in LINKS.values()))
        sku, combinations, linked = best
        return answer({"sku": sku, "combinations": combinations, "linked": linked})

    def _filtered(self, page: Observation, sku: str) -> Steps:
        page = yield from click(page, "link", "Products")
        page = yield from pages.narrow(page, {"SKU": sku})
        return (yield from click(page, "link", pages.lines(page)[0]["Name"]))

    def solve(self, page: Observation) -> Walk:
        return (yield from self._told(page, by_filter=False))

    def routes(self) -> Mapping[str, Route]:
        return {"by-filter": lambda page: self._told(page, by_filter=True)}


def _offered(page: Observation, name: str) -> list[str]:
    """The sizes or colors of a product: each has a button that removes it."""
    start = f"Remove {name} "
    return [node.name for node in page.nodes if node.role == "button" and node.name.startswith(start)]


def _linked(page: Observation, title: str) -> int:
    """From `Related Products (3)`."""
    heading = need(page, "heading", contains=f"{title} (")
    return int(heading.name.rpartition("(")[2].rstrip(")"))


@dataclass(frozen=True)
class AddUpsell(Template):
    """Make the product with the highest price of a category an up-sell of another product."""

    name = "admin.add-upsell"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        "Add the product with the highest price in the category {category} to the up-sell products of the product with "
        "the SKU {sku}."
    )
    levels = ("medium", "hard")

    user: str
    category: str
    sku: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        world = worlds["admin"]
        shelves = office.rows(
            world,
            "SELECT name FROM categories AS k WHERE level = 3 AND (SELECT count(*) FROM categories AS o"
            " WHERE o.level = 3 AND instr(lower(o.name), lower(k.name))) = 1 ORDER BY id",
        )
        products = office.rows(world, "SELECT sku FROM products WHERE id % 11 = 4 ORDER BY id")
        shelf, product = office.pick(stream, shelves), office.pick(stream, products)
        if shelf is None or product is None:
            return None
        drawn = cls(office.chief(stream), shelf["name"], product["sku"])
        ranked = drawn._ranked(worlds)
        taken = {one["linked_id"] for one in drawn._links(worlds)}
        clear = len(ranked) >= 8 and ranked[0]["price_cents"] > ranked[1]["price_cents"]
        own = drawn.sku in (ranked[0]["sku"], ranked[-1]["sku"]) if ranked else True
        return drawn if clear and not own and not taken & {ranked[0]["id"], ranked[-1]["id"]} else None

    def _ranked(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT p.* FROM products AS p JOIN categories AS k ON k.id = p.category_id WHERE k.name = ?"
            " ORDER BY p.price_cents DESC, p.id DESC",
            self.category,
        )

    def _links(self, worlds: Worlds) -> list[Row]:
        return office.rows(
            worlds["admin"],
            "SELECT l.* FROM product_links AS l JOIN products AS p ON p.id = l.product_id WHERE p.sku = ?",
            self.sku,
        )  # fmt: skip

    def _added(self, worlds: Worlds, linked: Row, kind: str = "upsell") -> Key:
        product = office.product(worlds["admin"], self.sku)["id"]
        return Key.insert("product_links", product_id=product, kind=kind, linked_id=linked["id"])

    def key(self, worlds: Worlds) -> Key:
        best = self._ranked(worlds)[0]
        return (
            self._added(worlds, best)
            & office.seen([shown(best["sku"], office.amount(best["price_cents"]))])
            & Key.checkpoint("the product", office.page(f"/products/{office.product(worlds['admin'], self.sku)['id']}"))
        )

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        ranked = self._ranked(worlds)
        return {
            "the-cheapest": self._added(worlds, ranked[-1]),
            "as-related": self._added(worlds, ranked[0], "related"),
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=len(self._ranked(worlds)), pages=3, steps=13, longest=16)

    def _best(self, page: Observation, cheapest: bool = False) -> Reading[tuple[Observation, str]]:
        page = yield from click(page, "link", "Products")
        page = yield from pages.narrow(page, {"Category": self.category})
        page = yield from click(page, "link", "Price")
        if not cheapest:
            page = yield from click(page, "link", "Price")
        return page, pages.lines(page)[0]["SKU"]

    def _add(self, page: Observation, sku: str, title: str = "Up-Sell Products") -> Walk:
        page = yield from pages.open_product(page, self.sku)
        page = yield from fill(page, "textbox", f"SKU to add to {title}", sku)
        yield from click(page, "button", f"Add to {title}")
        return done("mutate")

    def solve(self, page: Observation) -> Walk:
        return (yield from self._add(*(yield from self._best(page))))

    def routes(self) -> Mapping[str, Route]:
        return {"reading-all": self._by_reading}

    def _by_reading(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Products")
        page = yield from pages.narrow(page, {"Category": self.category})
        lines = yield from pages.all_lines(page)
        best = max(lines, key=lambda one: pages.cents(one["Price"]))
        return (yield from self._add(page, best["SKU"]))

    def hasty(self) -> Mapping[str, Route]:
        return {"the-cheapest": self._cheapest, "as-related": self._related}

    def _cheapest(self, page: Observation) -> Walk:
        return (yield from self._add(*(yield from self._best(page, cheapest=True))))

    def _related(self, page: Observation) -> Walk:
        page, sku = yield from self._best(page)
        return (yield from self._add(page, sku, "Related Products"))
