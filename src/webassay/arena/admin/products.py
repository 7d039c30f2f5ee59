"""Products in the back office: attribute sets, configurations, links, new ones."""

from collections import Counter
from collections.abc import Mapping
from operator import itemgetter
from typing import Self

from webassay.arena.admin import office, pages
from webassay.arena.admin.longlists import WholeList
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, cell, counted, fact, money
from webassay.arena.kit.template import Mutate, Parts, Retrieve, clear, fair
from webassay.arena.kit.walking import answer, links, need, submit
from webassay.arena.shop.queries import price
from webassay.core.interaction import Observation, Walk
from webassay.core.record import Json
from webassay.core.task import Sight
from webassay.sites.kit import Row, World
from webassay.sites.rng import NothingToDraw, Stream

LINKS = {"related": "Related Products", "upsell": "Up-Sell Products", "crosssell": "Cross-Sell Products"}


class SetsOfColor(WholeList):
    """Count the products of a color by their attribute set."""

    name = "admin.sets-of-color"
    chore = "others"
    instruction = (
        "Look at the products whose color is exactly {color}. How many have the attribute set {one}, and how many "
        'have {two}? Answer with an object: "{one}" and "{two}".'
    )
    levels = ("medium", "hard")
    menu = "Products"
    path = "/products"
    column = "SKU"
    needed_columns = ("Color", "Attribute Set")
    more_columns = ("Color",)
    steps = 11
    misread = {"first-page-only": {"limit": pages.FEW_ROWS}, "similar-colors": {"similar": True}}

    color: str
    one: str
    two: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        colors = office.rows(
            world, "SELECT color FROM products WHERE color <> '' GROUP BY color HAVING count(*) >= 15 ORDER BY 1"
        )
        color = stream.choice(colors)["color"]
        one, two = stream.sample(("Default", "Consumable", "Electrical"), 2)
        return cls(office.chief(stream), color, one, two)

    def typed(self) -> Mapping[str, str]:
        return {"Color": self.color}

    def end(self, world: World, *, limit: int | None = None, similar: bool = False) -> Parts:
        # The filter finds similar colors as well.
        rows = office.rows(world, "SELECT * FROM products WHERE instr(lower(color), ?) ORDER BY id", self.color.lower())
        exact = [one for one in rows[:limit] if one["color"] == self.color]
        if similar and len(exact) == len(rows):
            raise NothingToDraw
        sets = Counter(one["attribute_set"] for one in (rows if similar else exact))
        counts = {group: sets[group] for group in (self.one, self.two)}
        yield fair(*counts.values())
        yield Key.answer(counts)
        facts = []
        for group in counts:
            inside = office.spread([one for one in exact if one["attribute_set"] == group])
            of_the_set = [one for one in rows if one["attribute_set"] == group]
            facts.append(fact(office.listed("products", inside), _counted(of_the_set)))
        yield Key.seen_share(1.0, facts)
        yield from self.grid(len(rows))

    def findings(self, lines: list[pages.Line]) -> Json:
        sets = Counter(one["Attribute Set"] for one in lines if one["Color"] == self.color)
        return answer({self.one: sets[self.one], self.two: sets[self.two]})


def _counted(products: list[Row]) -> list[Sight]:
    """With both filters the grid counts a set by itself; what similar colors have is taken off."""
    found = []
    for color in sorted({one["color"] for one in products}):
        those = [one["id"] for one in products if color.lower() in one["color"].lower()]
        found.append(counted("products", those[:40], len(those)))
    return found


class PriceOfUpdated(WholeList):
    """Average the prices of what was updated between two days."""

    name = "admin.price-of-updated"
    chore = "calculation"
    instruction = (
        "Look at the simple products with the attribute set {group} that were last updated from {first} through "
        "{last}. How many are there, and what is their average price (column Price), rounded to the nearest cent? "
        'Answer with an object: "products" and "average".'
    )
    levels = ("medium", "hard", "extreme")
    menu = "Products"
    path = "/products"
    column = "Last Updated"
    needed_columns = ("Price",)
    more_columns = ("Last Updated",)
    steps = 13
    misread = {"first-page-only": {"limit": pages.FEW_ROWS}, "every-set": {"group": "%"}}

    group: str
    first: str
    last: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        group = stream.choice(("Default", "Consumable", "Electrical"))
        return cls(office.chief(stream), group, *office.some_days(stream, 1, 2, 3, 4, 6, 8, 10, since=2025))

    def typed(self) -> Mapping[str, str]:
        return office.days(self.column, self.first, self.last)

    def chosen(self) -> Mapping[str, str]:
        return {"Type": "Simple Product", "Attribute Set": self.group}

    def end(self, world: World, *, limit: int | None = None) -> Parts:
        rows = office.rows(
            world,
            "SELECT * FROM products WHERE attribute_set LIKE ? AND substr(updated_at, 1, 10) BETWEEN ? AND ?"
            " AND id NOT IN (SELECT product_id FROM product_options) ORDER BY id",
            self.group, self.first, self.last,
        )[:limit]  # fmt: skip
        # Adding up is the chore: as many as one can still check, or so many that the list is the point.
        yield fair(25 <= len(rows) <= 80 or len(rows) >= 200)
        total = sum(map(price, rows))
        # A half cent could be rounded either way.
        yield fair(total * 2 % len(rows))
        yield Key.answer({"products": len(rows), "average": money(round(total / len(rows)))})
        yield from self.read(rows, "products", "price_cents")

    def findings(self, lines: list[pages.Line]) -> Json:
        prices = [pages.cents(one["Price"]) for one in lines]
        return answer({"products": len(prices), "average": pages.dollars(round(sum(prices) / len(prices)))})


class MoreVariety(Retrieve):
    """Find which of some products has the most variety, and count what is linked to it."""

    name = "admin.more-variety"
    chore = "long_term_memory"
    instruction = (
        "Which of the products with the SKUs {skus} comes in the most combinations of size and color? Answer with an "
        'object: "sku", "combinations" (how many) and "linked" (how many related, up-sell, and cross-sell products '
        "it has in total)."
    )
    reads = ("sku",)
    levels = ("medium", "hard")
    misread = {"the-second": {"place": 1}, "related-only": {"count": "related"}}
    may_agree = ("related-only",)
    ways = {"by-filter": {"by_filter": True}}

    user: str
    skus: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        products = office.rows(
            world, "SELECT sku FROM products WHERE id IN (SELECT product_id FROM product_options) ORDER BY id"
        )
        some = stream.sample(products, min(stream.choice((3, 4, 8)), len(products)))
        return cls(office.chief(stream), ", ".join(one["sku"] for one in some))

    def end(self, world: World, *, place: int = 0, count: str = "linked") -> Parts:
        skus = self.skus.split(", ")
        products = office.rows(
            world,
            "SELECT id, sku, (SELECT count(*) FROM product_options WHERE product_id = p.id AND name = 'Size')"
            " * (SELECT count(*) FROM product_options WHERE product_id = p.id AND name = 'Color') AS combinations,"
            " (SELECT count(*) FROM product_links WHERE product_id = p.id) AS linked,"
            " (SELECT count(*) FROM product_links WHERE product_id = p.id AND kind = 'related') AS related"
            f" FROM products AS p WHERE sku IN ({', '.join('?' * len(skus))})",
            *skus,
        )
        ranked = sorted(products, key=_combinations, reverse=True)
        yield fair(clear(ranked, _combinations))
        # Whoever has sizes only comes in as many combinations as sizes, or in none.
        yield fair(ranked[0]["linked"] >= 3, all(map(_combinations, ranked)))
        best = ranked[place]
        yield Key.answer({"sku": best["sku"], "combinations": best["combinations"], "linked": best[count]})
        linked = office.rows(world, "SELECT * FROM product_links WHERE product_id = ?", best["id"])
        others = [cell("product_links", (best["id"], one["kind"], one["linked_id"])) for one in linked]
        yield office.seen([*_options(world, ranked), *others])
        yield Key.checkpoint("the product", office.page(f"/products/{best['id']}"))
        yield Effort(len(skus), 2 * len(skus), steps=2 + 4 * len(skus), longest=2 + 6 * len(skus))

    def solve(self, page: Observation, *, by_filter: bool = False) -> Walk:
        best = ("", 0, 0)
        for sku in self.skus.split(", "):
            page = yield from pages.open_product(page, sku, by_filter)
            combinations = _offered(page, "Size") * _offered(page, "Color")
            if combinations > best[1]:
                best = (sku, combinations, sum(_linked(page, title) for title in LINKS.values()))
        return answer(dict(zip(("sku", "combinations", "linked"), best, strict=True)))


_combinations = itemgetter("combinations")


def _options(world: World, products: list[Row]) -> list[Sight]:
    """The sizes and colors of these products."""
    options = [
        one for product in products
        for one in office.rows(world, "SELECT * FROM product_options WHERE product_id = ?", product["id"])
    ]  # fmt: skip
    return [cell("product_options", (one["product_id"], one["name"], one["value"])) for one in options]


def _offered(page: Observation, name: str) -> int:
    """How many sizes or colors a product has: each has a button that removes it."""
    return sum(node.role == "button" and node.name.startswith(f"Remove {name} ") for node in page.nodes)


def _linked(page: Observation, title: str) -> int:
    """From `Related Products (3)`."""
    heading = need(page, "heading", contains=f"{title} (")
    return int(heading.name.rpartition("(")[2].rstrip(")"))


class AddUpsell(Mutate):
    """Make the product with the highest price of a category an up-sell of another product."""

    name = "admin.add-upsell"
    chore = "long_term_memory"
    instruction = (
        "Find the product with the highest price in the category {category}. Add it to the up-sell products of the "
        "product with the SKU {sku}."
    )
    levels = ("medium", "hard")
    misread = {"the-cheapest": {"cheapest": True}, "as-related": {"link": "related"}}
    ways = {"reading-all": {"reading": True}}

    user: str
    category: str
    sku: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        shelves = office.rows(
            world,
            "SELECT name FROM categories AS k WHERE level = 3 AND (SELECT count(*) FROM categories AS o"
            " WHERE o.level = 3 AND instr(lower(o.name), lower(k.name))) = 1 ORDER BY id",
        )
        products = office.rows(world, "SELECT sku FROM products WHERE id % 11 = 4 ORDER BY id")
        shelf, product = stream.choice(shelves), stream.choice(products)
        return cls(office.chief(stream), shelf["name"], product["sku"])

    def end(self, world: World, *, cheapest: bool = False, link: str = "upsell") -> Parts:
        ranked = office.rows(
            world,
            "SELECT p.* FROM products AS p JOIN categories AS k ON k.id = p.category_id WHERE k.name = ?"
            " ORDER BY p.price_cents DESC, p.id DESC",
            self.category,
        )
        yield fair(len(ranked) >= 8)
        product = office.product(world, self.sku)
        linked = office.rows(world, "SELECT linked_id FROM product_links WHERE product_id = ?", product["id"])
        taken = {product["id"], *(one["linked_id"] for one in linked)}
        yield fair(clear(ranked, price), not taken & {ranked[0]["id"], ranked[-1]["id"]})
        best = ranked[-1 if cheapest else 0]
        yield Key.insert("product_links", product_id=product["id"], kind=link, linked_id=best["id"])
        yield office.seen(office.listed("products", [best]))
        yield Key.checkpoint("the product", office.page(f"/products/{product['id']}"))
        yield Effort(rows=len(ranked), pages=3, steps=13, longest=16)

    def solve(self, page: Observation, *, cheapest: bool = False, link: str = "upsell", reading: bool = False) -> Walk:
        page = yield from pages.filtered(page, "Products", {"Category": self.category})
        if reading:
            best = max((yield from pages.all_lines(page)), key=lambda one: pages.cents(one["Price"]))
        else:
            # The second click turns the order around.
            page = yield from links(page, *["Price"] * (1 if cheapest else 2))
            best = pages.lines(page)[0]
        page = yield from pages.open_product(page, self.sku)
        return (yield from submit(page, f"Add to {LINKS[link]}", {f"SKU to add to {LINKS[link]}": best["SKU"]}))
