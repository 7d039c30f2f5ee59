"""Product lists: a category or a search, filtered, sorted and paged."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from webassay.sites.kit import Row, SqlValue, World
from webassay.sites.shop.commerce import money
from webassay.sites.shop.web import Category, Tree
from webassay.sites.web.forms import whole_number
from webassay.sites.web.lists import Paging, WrongSetting, one_of, same_list

PAGE_SIZES = (12, 24, 36)
LONGEST_QUERY = 128
PRICE_BANDS = ((0, 999), (1000, 2499), (2500, 4999), (5000, 9999), (10000, 19999), (20000, None))
STOP_WORDS = frozenset(["a", "an", "and", "by", "for", "from", "in", "my", "of", "on", "or", "the", "to", "with"])

# Name of the sort order to its label, what is compared, and whether it is descending by default.
_RATING = "CASE WHEN r.review_count THEN r.rating_sum * 1000000 / r.review_count ELSE 0 END"
SORTS = {
    "relevance": ("Relevance", "rank", True),
    "position": ("Position", "p.position", False),
    "name": ("Product Name", "p.name COLLATE NOCASE", False),
    "price": ("Price", "p.price_cents", False),
    "rating": ("Rating", _RATING, True),
    "newest": ("Newest", "p.first_available", True),
}
CARD = (
    "p.id, p.sku, p.slug, p.name, p.brand, p.color, p.price_cents, p.list_price_cents, p.stock, p.picture,"
    " p.first_available, r.product_id, r.review_count, r.rating_sum,"
    " EXISTS (SELECT 1 FROM product_options AS o WHERE o.product_id = p.id) AS has_options"
)


@dataclass(frozen=True)
class Band:
    label: str
    value: str
    count: int


@dataclass(frozen=True)
class Listing:
    """One page of a list, and everything its controls show."""

    products: list[Row]
    paging: Paging
    sort: str
    down: bool
    sorts: list[tuple[str, str]]
    price: str
    """As in the URL."""
    low: str
    high: str
    category: Category | None
    """The subcategory that the list is narrowed to."""
    subcategories: list[tuple[Category, int]]
    bands: list[Band]
    query: Mapping[str, str]

    @property
    def price_label(self) -> str:
        low, high = price_range(self.price)
        if high is None:
            return f"{money(low or 0)} and above"
        return f"{money(low or 0)} – {money(high)}"

    def url(self, **changes: str | int | None) -> str:
        return same_list(self.query, **changes)


@dataclass(frozen=True)
class Narrowing:
    """What the products of a list must be, beside what its controls say."""

    conditions: tuple[str, ...] = ()
    """SQL about p, with a question mark for each of the values."""
    values: tuple[SqlValue, ...] = ()

    def and_also(self, condition: str, *values: SqlValue) -> "Narrowing":
        return Narrowing((*self.conditions, condition), (*self.values, *values))


@dataclass(frozen=True)
class _Settings:
    """What the URL says about the list."""

    sorts: list[str]
    sort: str
    down: bool
    size: int
    low: int
    high: int
    category: Category | None


def list_products(
    world: World,
    tree: Tree,
    query: Mapping[str, str],
    *,
    inside: Category | None = None,
    search: str = "",
    narrowed: Narrowing | None = None,
) -> Listing:
    """The products of a category, or those found by a search, simple or advanced. Unknown settings are an error."""
    departments, by_id = tree
    chosen = _settings(query, by_id, inside, search)
    around = chosen.category or inside
    rank, condition, params = _source(search, around, narrowed or Narrowing())
    found = f"FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id WHERE p.enabled AND {condition}"
    priced: list[SqlValue] = [*params, chosen.low, chosen.high]
    total: int = world.scalar(f"SELECT count(*) {found} AND p.price_cents BETWEEN ? AND ?", *priced)
    paging = Paging.at(query.get("p", "1"), chosen.size, total)
    products = world.rows(
        f"SELECT {CARD}, {rank} AS rank {found} AND p.price_cents BETWEEN ? AND ? ORDER BY {_order(chosen, search)}"
        " LIMIT ? OFFSET ?",
        *([match(search, "name")] if search else []),
        *priced, paging.size, paging.skipped,
    )  # fmt: skip
    low_typed, _, high_typed = query.get("price", "").partition("-")
    return Listing(
        products=products,
        paging=paging,
        sort=chosen.sort,
        down=chosen.down,
        sorts=[(name, SORTS[name][0]) for name in chosen.sorts],
        price=query.get("price", ""),
        low=low_typed,
        high=high_typed,
        category=chosen.category,
        subcategories=_subcategories(world, found, priced, around.children if around else departments),
        bands=_bands(world, found, params),
        query=query,
    )


def _settings(query: Mapping[str, str], by_id: dict[int, Category], inside: Category | None, search: str) -> _Settings:
    sorts = [name for name in SORTS if name != ("position" if search else "relevance")]
    sort = one_of("sort", query.get("sort", sorts[0]), sorts)
    down = one_of("dir", query.get("dir", "desc" if SORTS[sort][2] else "asc"), ("asc", "desc")) == "desc"
    size = int(one_of("limit", query.get("limit", str(PAGE_SIZES[0])), [str(known) for known in PAGE_SIZES]))
    low, high = price_range(query.get("price", ""))
    return _Settings(
        sorts=sorts,
        sort=sort,
        down=down,
        size=size,
        low=low or 0,
        high=10**12 if high is None else high,
        category=_narrowed(query.get("cat"), by_id, inside),
    )


def _order(chosen: _Settings, search: str) -> str:
    direction = "DESC" if chosen.down else "ASC"
    return f"{SORTS[chosen.sort][1]} {direction}, {'r.review_count DESC, ' if search else ''}p.id"


def price_range(text: str) -> tuple[int | None, int | None]:
    """'30-69.99' in cents, both ends included; either end may be missing."""
    if not text:
        return None, None
    match = re.fullmatch(r"(?:([0-9]{1,7})(?:\.([0-9]{1,2}))?)?-(?:([0-9]{1,7})(?:\.([0-9]{1,2}))?)?", text)
    if match is None:
        raise WrongSetting("price", f'"{text[:40]}" is not a price range. Write it like 10-24.99.')
    dollars, cents, more_dollars, more_cents = match.groups()
    low = int(dollars) * 100 + int((cents or "0").ljust(2, "0")) if dollars else None
    high = int(more_dollars) * 100 + int((more_cents or "0").ljust(2, "0")) if more_dollars else None
    return low, high


def search_words(text: str) -> list[str]:
    found = re.findall(r"\w+", text.casefold())
    return [word for word in found if word not in STOP_WORDS] or found


def match(text: str, column: str = "") -> str:
    """A full-text expression with every word quoted, so that none is an operator."""
    quoted = " ".join(f'"{word}"' for word in search_words(text))
    return f"{column} : ({quoted})" if column else quoted


def _source(search: str, category: Category | None, narrowed: Narrowing) -> tuple[str, str, list[SqlValue]]:
    """SQL for how well a product fits and for the condition it must meet, and the condition's parameters."""
    conditions, params = ["1", *narrowed.conditions], list(narrowed.values)
    if search:
        conditions.append("p.id IN (SELECT rowid FROM product_search WHERE product_search MATCH ?)")
        params.append(match(search))
    if category is not None:
        shelves = category.shelves()
        conditions.append(f"p.category_id IN ({', '.join('?' * len(shelves))})")
        params += [shelf.id for shelf in shelves]
    rank = "p.id IN (SELECT rowid FROM product_search WHERE product_search MATCH ?)" if search else "0"
    return rank, " AND ".join(conditions), params


def _narrowed(text: str | None, by_id: dict[int, Category], inside: Category | None) -> Category | None:
    if text is None:
        return None
    found = by_id.get(whole_number(text) or 0)
    if found is None or (inside is not None and not found.path.startswith(f"{inside.path}/")):
        raise WrongSetting("cat", f'There is no subcategory "{text[:40]}" here.')
    return found


def _subcategories(
    world: World, found: str, params: list[SqlValue], children: list[Category]
) -> list[tuple[Category, int]]:
    rows = world.rows(
        f"SELECT p.category_id, count(*) AS n {found} AND p.price_cents BETWEEN ? AND ? GROUP BY p.category_id", *params
    )
    counts = {row["category_id"]: row["n"] for row in rows}
    sums = [(child, sum(counts.get(shelf.id, 0) for shelf in child.shelves())) for child in children]
    return [(child, count) for child, count in sums if count]


def _bands(world: World, found: str, params: list[SqlValue]) -> list[Band]:
    """Counts over the whole list, whatever price range is chosen, so that another one can be chosen."""
    tests = ", ".join(
        f"ifnull(sum(p.price_cents BETWEEN {low} AND {high if high is not None else 10**12}), 0) AS band{i}"
        for i, (low, high) in enumerate(PRICE_BANDS)
    )
    counts = world.rows(f"SELECT {tests} {found}", *params)[0]
    bands = []
    for i, (low, high) in enumerate(PRICE_BANDS):
        count = counts[f"band{i}"]
        if count:
            label = f"{money(low)} and above" if high is None else f"{money(low)} – {money(high)}"
            value = f"{low // 100}-" if high is None else f"{low // 100}-{high // 100}.{high % 100:02d}"
            bands.append(Band(label, value, count))
    return bands
