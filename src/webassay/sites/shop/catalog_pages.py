"""Home, categories, search, products and their reviews."""

import re
import unicodedata
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.kit import Row, World
from webassay.sites.receipts import written
from webassay.sites.shop.listing import CARD, LONGEST_QUERY, Narrowing, list_products, match, search_words
from webassay.sites.shop.pictures import label
from webassay.sites.shop.pricing import coupons, today
from webassay.sites.shop.web import Category, ShopVisit, category_tree, product_options
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields
from webassay.sites.web.grids import sql_lower
from webassay.sites.web.lists import Paging, one_of

REVIEWS_PER_PAGE = 10
COUPONS_PER_PAGE = 10
CRITERIA = ("name", "brand", "sku", "description", "min", "max", "price", "in_stock", "on_sale")
_PRICE = re.compile(r"\$?[0-9]{1,7}([.][0-9]{1,2})?")
_CARDS = f"SELECT {CARD} FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id AND p.enabled"


async def home(visit: ShopVisit) -> Response:
    world = visit.world
    return visit.render(
        "home.html",
        deals=world.rows(
            f"{_CARDS} WHERE p.list_price_cents IS NOT NULL AND p.stock > 0 ORDER BY r.review_count DESC, p.id LIMIT 4"
        ),
        arrivals=world.rows(
            f"{_CARDS} WHERE p.stock > 0 AND p.position = 1 ORDER BY p.first_available DESC, p.id LIMIT 4"
        ),
        favorites=world.rows(
            f"{_CARDS} WHERE r.review_count >= 20 AND p.stock > 0"
            " ORDER BY r.rating_sum * 1000 / r.review_count DESC, p.id LIMIT 4"
        ),
        viewed=_recently_viewed(visit, without=0),
    )


async def category(visit: ShopVisit) -> Response:
    tree = category_tree(visit.world)
    path = visit.request.path_params["path"]
    found = next((known for known in tree[1].values() if known.path == path), None)
    if found is None:
        raise HTTPException(404, "There is no such category.")
    if moved := _typed_prices(visit):
        return moved
    listing = list_products(visit.world, tree, visit.request.query_params, inside=found)
    trail = _trail(found, tree[1])
    return visit.render("listing.html", title=found.name, trail=trail, listing=listing, search="")


async def search(visit: ShopVisit) -> Response:
    query = visit.request.query_params.get("q", "").strip()
    if len(query) > LONGEST_QUERY:
        raise HTTPException(400, f"A search can have at most {LONGEST_QUERY} characters.")
    if moved := _typed_prices(visit):
        return moved
    if not search_words(query):
        return visit.render("nothing.html", search=query)
    listing = list_products(visit.world, category_tree(visit.world), visit.request.query_params, search=query)
    _remember_search(visit.world, query, listing.paging.total)
    if not listing.paging.total and not {"price", "cat"} & set(visit.request.query_params):
        return visit.render("nothing.html", search=query)
    return visit.render("listing.html", title=f'Search results for: "{query}"', trail=[], listing=listing, search=query)


async def advanced_search(visit: ShopVisit) -> Response:
    """The form; what it finds, once something is filled in; or the form again, with what is wrong."""
    query = visit.request.query_params
    fields = FormFields(query)
    narrowed = _narrowed(fields)
    for name in ("min", "max"):
        typed = fields.text(name, "The price", most=10, needed=False)
        if typed and not _PRICE.fullmatch(typed):
            fields.errors[name] = "Enter a price such as 10 or 24.99."
    if set(CRITERIA) & set(query) and not (
        narrowed.conditions or any(query.get(one) for one in ("min", "max", "price"))
    ):
        fields.errors["all"] = "Fill in at least one field."
    if fields.errors:
        return visit.render("advanced_search.html", 422, errors=fields.errors, values=fields.values)
    if not set(CRITERIA) & set(query) or "change" in query:
        low, _, high = query.get("price", "").partition("-")
        return visit.render("advanced_search.html", errors={}, values={**query, "min": low, "max": high})
    if moved := _typed_prices(visit):
        return moved
    listing = list_products(visit.world, category_tree(visit.world), query, narrowed=narrowed)
    trail = [FilterLink("Advanced Search", "/search/advanced")]
    title = "Advanced Search Results"
    return visit.render("listing.html", title=title, trail=trail, listing=listing, search="", advanced=True)


class FilterLink(NamedTuple):
    name: str
    url: str


def _narrowed(fields: FormFields) -> Narrowing:
    narrowed = Narrowing()
    name = fields.text("name", "Product name", most=LONGEST_QUERY, needed=False)
    if search_words(name):
        found = "p.id IN (SELECT rowid FROM product_search WHERE product_search MATCH ?)"
        narrowed = narrowed.and_also(found, match(name, "name"))
    if brand := fields.text("brand", "Brand", most=60, needed=False):
        narrowed = narrowed.and_also("p.brand = ? COLLATE NOCASE", brand)
    if sku := fields.text("sku", "SKU", most=20, needed=False):
        narrowed = narrowed.and_also("substr(p.sku, 1, ?) = ? COLLATE NOCASE", len(sku), sku)
    if described := fields.text("description", "Description", most=LONGEST_QUERY, needed=False):
        narrowed = narrowed.and_also("instr(lower(p.description || ' ' || p.highlights), ?)", sql_lower(described))
    if fields.ticked("in_stock"):
        narrowed = narrowed.and_also("p.stock > 0")
    if fields.ticked("on_sale"):
        narrowed = narrowed.and_also("p.list_price_cents IS NOT NULL")
    return narrowed


async def offers(visit: ShopVisit) -> Response:
    """The coupons, those of today or all of them."""
    query = visit.request.query_params
    show = one_of("show", query.get("show", "current"), ("current", "all"))
    day = today(visit.world)
    current = ("k.starts_on <= ? AND k.ends_on >= ?", day, day)
    found = coupons(visit.world, *current) if show == "current" else coupons(visit.world)
    paging = Paging.at(query.get("p", "1"), COUPONS_PER_PAGE, len(found))
    shown = found[paging.skipped : paging.last]
    return visit.render("coupons.html", coupons=shown, paging=paging, show=show, query=query)


async def cms_page(visit: ShopVisit) -> Response:
    """What the back office has written. The address of the page about us is older than that."""
    key = visit.request.path_params.get("key", "about")
    found = visit.world.row("SELECT * FROM cms_pages WHERE url_key = ? AND enabled", key)
    if found is None:
        raise HTTPException(404)
    return visit.render("cms_page.html", page=found, paragraphs=found["content"].split("\n\n"))


async def suggest(visit: ShopVisit) -> Response:
    """Products that the beginning of a search may mean."""
    words = search_words(visit.request.query_params.get("q", "")[:LONGEST_QUERY])
    if not words:
        return visit.json({"suggestions": []})
    *whole, begun = (f'"{word}"' for word in words)
    found = visit.world.rows(
        "SELECT p.id, p.name, p.slug FROM products AS p JOIN product_ratings AS r ON r.product_id = p.id"
        " WHERE p.enabled AND p.id IN (SELECT rowid FROM product_search WHERE product_search MATCH ?)"
        " ORDER BY r.review_count DESC, p.id LIMIT 6",
        f"name : ({' '.join([*whole, f'{begun}*'])})",
    )
    return visit.json({"suggestions": [{"name": row["name"], "url": f"/p/{row['slug']}"} for row in found]})


async def product(visit: ShopVisit) -> Response:
    found = _product(visit)
    viewed = _recently_viewed(visit, without=found["id"])
    if visit.token:
        with visit.world.write() as db:
            db.execute(
                "INSERT OR REPLACE INTO recently_viewed VALUES (?, ?, ?)",
                (visit.token, found["id"], stamp(visit.world.now())),
            )
    return _render_product(visit, found, viewed=viewed)


async def product_label(visit: ShopVisit) -> Response:
    """A picture of what is printed on the package."""
    found = _product(visit)
    written([found[name] for name in ("brand", "sku", "origin", "warranty_months")])
    return Response(label(found), media_type="image/svg+xml", headers={"cache-control": "private, max-age=600"})


async def product_reviews(visit: ShopVisit) -> Response:
    """The list alone, for the page's script."""
    found = _product(visit)
    rows, paging = _reviews(visit, found)
    return visit.render("_reviews.html", product=found, reviews=rows, paging=paging)


async def write_review(visit: ShopVisit) -> Response:
    found = _product(visit)
    form = await visit.form()
    nickname = form.text("nickname", "Nickname", most=50)
    title = form.text("title", "Summary", most=120)
    text = form.text("text", "Review", most=2000, lines=True)
    rating = form.choice("rating", "rating", ("1", "2", "3", "4", "5"))
    if form.errors:
        return _render_product(visit, found, status=422, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        db.execute(
            "INSERT INTO reviews (product_id, customer_id, nickname, rating, title, text, status, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)",
            (found["id"], visit.customer and visit.customer["id"], nickname, int(rating), title, text,
             stamp(visit.world.now())),
        )  # fmt: skip
    return visit.go(f"/p/{found['slug']}", "Thank you! Your review was submitted for moderation.")


# --- parts -----------------------------------------------------------------------------------------------


def _product(visit: ShopVisit) -> Row:
    found = visit.world.row(
        "SELECT p.*, r.product_id, r.review_count, r.rating_sum FROM products AS p"
        " JOIN product_ratings AS r ON r.product_id = p.id WHERE p.slug = ? AND p.enabled",
        visit.request.path_params["slug"],
    )
    if found is None:
        raise HTTPException(404, "We could not find this product.")
    return found


def _render_product(visit: ShopVisit, found: Row, status: int = 200, **extra: Any) -> Response:
    world = visit.world
    _, by_id = category_tree(world)
    wished = visit.customer and world.scalar(
        "SELECT 1 FROM wishlist_items WHERE customer_id = ? AND product_id = ?", visit.customer["id"], found["id"]
    )
    like = _linked(world, found["id"], "upsell") or world.rows(
        f"{_CARDS} WHERE p.category_id = ? AND p.id <> ? AND p.stock > 0 ORDER BY r.review_count DESC, p.id LIMIT 4",
        found["category_id"], found["id"],
    )  # fmt: skip
    context = {"errors": {}, "values": {}, "viewed": []} | extra
    reviews, paging = _reviews(visit, found)
    return visit.render(
        "product.html",
        status,
        product=found,
        options=product_options(world, found["id"]),
        trail=_trail(by_id[found["category_id"]], by_id, linked=True),
        reviews=reviews,
        paging=paging,
        open_reviews="reviews" in visit.request.query_params or status != 200,
        wished=wished,
        related=_linked(world, found["id"], "related"),
        like=like,
        **context,
    )


def _linked(world: World, product_id: int, kind: str) -> list[Row]:
    return world.rows(
        f"{_CARDS} JOIN product_links AS l ON l.linked_id = p.id WHERE l.product_id = ? AND l.kind = ?"
        " AND p.stock > 0 ORDER BY l.position",
        product_id, kind,
    )  # fmt: skip


def _reviews(visit: ShopVisit, found: Row) -> tuple[list[Row], Paging]:
    paging = Paging.at(visit.request.query_params.get("reviews", "1"), REVIEWS_PER_PAGE, found["review_count"])
    rows = visit.world.rows(
        "SELECT id, nickname, rating, title, text, helpful, votes, created_at FROM reviews"
        " WHERE product_id = ? AND status = 'approved' ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?",
        found["id"], paging.size, paging.skipped,
    )  # fmt: skip
    return rows, paging


def _recently_viewed(visit: ShopVisit, without: int) -> list[Row]:
    if not visit.token:
        return []
    return visit.world.rows(
        f"{_CARDS} JOIN recently_viewed AS v ON v.product_id = p.id WHERE v.token = ? AND p.id <> ?"
        " ORDER BY v.viewed_at DESC, p.id LIMIT 4",
        visit.token, without,
    )  # fmt: skip


def _trail(category: Category, by_id: dict[int, Category], linked: bool = False) -> list[Category]:
    """From the department down. The category itself is left out, because it is the page, unless it is `linked` too."""
    trail = [category]
    while trail[0].parent_id is not None:
        trail.insert(0, by_id[trail[0].parent_id])
    return trail if linked else trail[:-1]


def _typed_prices(visit: ShopVisit) -> Response | None:
    """The price form has two fields; the URL of a list has one setting for both."""
    query = dict(visit.request.query_params)
    if not {"min", "max"} & set(query):
        return None
    low, high = query.pop("min", "").strip().lstrip("$"), query.pop("max", "").strip().lstrip("$")
    query.pop("p", None)
    query.pop("price", None)
    if low or high:
        query["price"] = f"{low}-{high}"
    return visit.go(f"{visit.request.url.path}?{urlencode(query)}")


def _remember_search(world: World, query: str, results: int) -> None:
    term = " ".join(unicodedata.normalize("NFC", query).casefold().split())
    with world.write() as db:
        db.execute(
            "INSERT INTO search_terms VALUES (?, 1, ?)"
            " ON CONFLICT (term) DO UPDATE SET uses = uses + 1, results = excluded.results",
            (term, results),
        )
