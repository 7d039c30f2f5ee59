"""The rows of a fresh shop: the same on every machine, and coherent."""

import re
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from tests.sites.shop_visits import NORA
from tests.sites.visitors import fresh
from tests.support.worlds import CACHE
from webassay.core.errors import InputError
from webassay.sites.kit import World, snapshot
from webassay.sites.shop import SITE
from webassay.sites.shop.commerce import TAX_RATES, money, shipping_cents, tenths_of_stars, totals, weight
from webassay.sites.shop.seeding.customers import PASSWORD, REGULARS, password_hash
from webassay.sites.shop.seeding.telling import sentences_of
from webassay.sites.shop.seeding.words import plain_case, short_noun, this, vocabulary, words
from webassay.sites.web.dates import long_date, stamp

CHECKSUM = "f309b5a8fdd82b310e168dc3907b461310ee7f01e15103d6472cc3f9fa0bd7db"
"""Of the canonical dump for seed 0. When it changes, every pinned answer about the shop changes with it."""


@pytest.fixture(scope="module")
def world():
    opened = fresh(SITE)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def small():
    opened = World(SITE, 0, snapshot(SITE, 0, CACHE, "small"))
    yield opened
    opened.close()


def none(world: World, sql: str) -> None:
    """No row is found: what the query looks for does not happen."""
    assert world.rows(f"{sql} LIMIT 3") == []


def test_the_data_is_pinned(world):
    assert world.checksum() == CHECKSUM


def test_another_seed_makes_another_shop_of_the_same_kind(small):
    other = World(SITE, 1, snapshot(SITE, 1, CACHE, "small"))
    try:
        assert other.checksum() != small.checksum()
        for sql in ("SELECT path FROM categories ORDER BY id", "SELECT count(*) FROM customers"):
            assert other.rows(sql) == small.rows(sql)
        names = [{row["name"] for row in one.rows("SELECT name FROM products")} for one in (small, other)]
        assert len(names[0] & names[1]) < len(names[0]) / 10
    finally:
        other.close()


def test_the_shop_is_of_the_size_of_a_shop(world):
    assert [row["n"] for row in world.rows("SELECT count(*) AS n FROM categories GROUP BY level ORDER BY level")] == [
        10,
        49,
        131,
    ]
    assert 3800 <= world.scalar("SELECT count(*) FROM products") <= 4500
    assert 33000 <= world.scalar("SELECT count(*) FROM reviews") <= 50000
    assert 7000 <= world.scalar("SELECT count(*) FROM orders") <= 11000
    assert world.scalar("SELECT count(*) FROM customers") == 500
    assert sum(world.scalar(f"SELECT count(*) FROM {table}") for table in SITE.columns) >= 100_000
    assert len(world.snapshot.pages.shared) < 24_000_000


def test_counts_of_reviews_have_a_long_tail(world):
    assert world.scalar("SELECT count(*) FROM product_ratings WHERE review_count = 0") > 200
    assert world.scalar("SELECT count(*) FROM product_ratings WHERE review_count BETWEEN 1 AND 5") > 1000
    assert world.scalar("SELECT count(*) FROM product_ratings WHERE review_count >= 200") >= 10


def test_some_products_are_sold_out_and_some_on_sale(world):
    assert world.scalar("SELECT count(*) FROM products WHERE stock = 0") > 50
    assert world.scalar("SELECT count(*) FROM products WHERE list_price_cents IS NOT NULL") > 200


def test_order_totals_add_up(world):
    none(
        world,
        "SELECT o.number FROM orders AS o JOIN order_items AS i ON i.order_id = o.id GROUP BY o.id"
        " HAVING o.subtotal_cents <> sum(i.unit_price_cents * i.quantity)"
        " OR o.total_cents <> o.subtotal_cents - o.discount_cents + o.shipping_cents + o.tax_cents",
    )
    for order in world.rows("SELECT * FROM orders"):
        lines = [
            (row["unit_price_cents"], row["quantity"])
            for row in world.rows("SELECT * FROM order_items WHERE order_id = ?", order["id"])
        ]
        region = world.scalar(
            "SELECT region FROM order_addresses WHERE order_id = ? AND kind = 'shipping'", order["id"]
        )
        free = bool(order["coupon_code"]) and order["discount_cents"] == 0
        sums = totals(lines, order["shipping_method"], region, order["discount_cents"], free_shipping=free)
        assert (sums.subtotal, sums.shipping, sums.tax, sums.total) == (
            order["subtotal_cents"],
            order["shipping_cents"],
            order["tax_cents"],
            order["total_cents"],
        )


NEVER = {
    "two products with one SKU": "SELECT sku FROM products GROUP BY sku HAVING count(*) > 1",
    "two products at one address": "SELECT slug FROM products GROUP BY slug HAVING count(*) > 1",
    "two products with one name": "SELECT name FROM products GROUP BY name HAVING count(*) > 1",
    "an empty shelf, or products on what is none":
        "SELECT c.path FROM categories AS c LEFT JOIN products AS p ON p.category_id = c.id"
        " GROUP BY c.id HAVING (c.level = 3) <> (count(p.id) > 0)",
    "a price that makes no sense":
        "SELECT name FROM products WHERE price_cents < 100 OR list_price_cents <= price_cents",
    "less than nothing": "SELECT name FROM products WHERE weight_oz <= 0 OR stock < 0",
    "ratings that do not follow from the reviews":
        "SELECT s.product_id FROM product_ratings AS s LEFT JOIN reviews AS v"
        " ON v.product_id = s.product_id AND v.status = 'approved' GROUP BY s.product_id"
        " HAVING s.review_count <> count(v.id) OR s.rating_sum <> ifnull(sum(v.rating), 0)",
    "an order of nothing": "SELECT id FROM orders WHERE id NOT IN (SELECT order_id FROM order_items)",
    "an order without its two addresses":
        "SELECT order_id FROM order_addresses GROUP BY order_id HAVING count(*) <> 2",
    "an order with another number": "SELECT number FROM orders WHERE CAST(number AS INTEGER) <> 100000 + id",
    "more orders than people make in the time since they joined":
        "SELECT c.email FROM orders AS o JOIN customers AS c ON c.id = o.customer_id GROUP BY c.id"
        " HAVING count(*) > 4 + (julianday('2026-03-01') - julianday(c.created_at)) / 5",
    "a customer without one default address of each kind":
        "SELECT customer_id FROM addresses GROUP BY customer_id"
        " HAVING sum(is_default_billing) <> 1 OR sum(is_default_shipping) <> 1",
    "a customer without an address": "SELECT id FROM customers WHERE id NOT IN (SELECT customer_id FROM addresses)",
    "a cart that cannot be bought":
        "SELECT c.id FROM cart_items AS c JOIN products AS p ON p.id = c.product_id WHERE c.quantity > p.stock",
    "a review of today or later": "SELECT id FROM reviews WHERE created_at >= '2026-03-01 09:00:00'",
    "an order of today or later": "SELECT id FROM orders WHERE created_at >= '2026-03-01 09:00:00'",
    "a customer of today or later": "SELECT id FROM customers WHERE created_at >= '2026-03-01 09:00:00'",
    "a product of today or later": "SELECT id FROM products WHERE first_available >= '2026-03-01 09:00:00'",
    "a review before its product":
        "SELECT v.id FROM reviews AS v JOIN products AS p ON p.id = v.product_id"
        " WHERE v.created_at < p.first_available",
    "an order before its product":
        "SELECT i.id FROM order_items AS i JOIN orders AS o ON o.id = i.order_id"
        " JOIN products AS p ON p.id = i.product_id WHERE substr(o.created_at, 1, 10) < p.first_available",
    "an order before its customer":
        "SELECT o.id FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
        " WHERE substr(o.created_at, 1, 10) < substr(c.created_at, 1, 10)",
    "orders out of their order":
        "SELECT a.id FROM orders AS a JOIN orders AS b ON b.id = a.id + 1 WHERE b.created_at <= a.created_at",
    "two reviews of a product at one time":
        "SELECT product_id FROM reviews GROUP BY product_id, created_at HAVING count(*) > 1",
    "a review that says the same of a product again":
        "SELECT product_id FROM reviews GROUP BY product_id, text HAVING count(*) > 1",
    "an old order that is still open":
        "SELECT id FROM orders WHERE status = 'pending' AND created_at < '2026-02-12'",
}  # fmt: skip


@pytest.mark.parametrize("what", NEVER)
def test_what_no_shop_has_is_not_in_the_data(world, what):
    assert stamp(world.now()) == "2026-03-01 09:00:00"
    none(world, NEVER[what])


SHARES = {
    "complete": (75, 88), "canceled": (6, 12), "closed": (2, 5), "pending": (2, 5), "processing": (1, 3),
    "on hold": (0.3, 1.5),
}  # fmt: skip
"""The least and most percent of the orders with each status."""


def test_orders_have_every_status_in_believable_shares(world):
    found = {row["status"]: row["n"] for row in world.rows("SELECT status, count(*) AS n FROM orders GROUP BY 1")}
    assert found.keys() == SHARES.keys()
    for status, (least, most) in SHARES.items():
        assert least <= 100 * found[status] / sum(found.values()) <= most, status


def test_closed_orders_were_refunded_as_a_whole_and_others_were_not(world):
    refunded = "SELECT sum(amount_cents) FROM refunds WHERE order_id = o.id"
    none(world, f"SELECT o.id FROM orders AS o WHERE (status = 'closed') <> (ifnull(({refunded}), 0) >= total_cents)")


def test_no_sentence_is_in_more_than_two_reviews_of_a_product(world):
    said: dict[int, Counter[str]] = defaultdict(Counter)
    for row in world.rows("SELECT product_id, text FROM reviews"):
        said[row["product_id"]].update(set(sentences_of(row["text"])))
    assert max(max(each.values()) for each in said.values()) <= 2
    everywhere: Counter[str] = Counter()
    for each in said.values():
        everywhere.update(each)
    assert len(everywhere) > 0.22 * everywhere.total()


def test_only_businesses_order_by_the_hundred_and_are_named_so(world):
    kinds = words(vocabulary("people")["business_kinds"])
    frequent = world.rows(
        "SELECT c.last_name, count(*) AS n FROM orders AS o JOIN customers AS c ON c.id = o.customer_id GROUP BY c.id"
        " HAVING n > 100"
    )
    assert len(frequent) >= 6
    assert all(row["last_name"] in kinds for row in frequent)


def test_some_people_have_the_same_name_and_presents_go_to_others(world):
    namesakes = world.rows("SELECT first_name FROM customers GROUP BY first_name, last_name HAVING count(*) > 1")
    assert len(namesakes) >= 4
    elsewhere = world.scalar(
        "SELECT count(*) FROM order_addresses AS s JOIN order_addresses AS b ON b.order_id = s.order_id"
        " WHERE s.kind = 'shipping' AND b.kind = 'billing' AND s.last_name <> b.last_name"
    )
    assert elsewhere > 0.05 * world.scalar("SELECT count(*) FROM orders")


def test_more_is_ordered_for_the_holidays(world):
    per = "SELECT count(*) FROM orders WHERE substr(created_at, 1, 7) = ?"
    for year in range(2022, 2026):
        assert world.scalar(per, f"{year}-12") > 1.3 * world.scalar(per, f"{year}-02")


@pytest.mark.parametrize(("place", "fewest"), list(enumerate((46, 32, 22, 24))))
def test_regulars_have_long_histories(world, place, fewest):
    customer = world.row("SELECT * FROM customers WHERE email = ?", REGULARS[place][2])
    orders = world.rows("SELECT * FROM orders WHERE customer_id = ? ORDER BY created_at", customer["id"])
    assert len(orders) >= fewest
    assert orders[-1]["status"] == "pending"
    assert customer["password_hash"] == password_hash(customer["id"], PASSWORD)
    assert world.scalar("SELECT count(*) FROM addresses WHERE customer_id = ?", customer["id"]) >= 2
    assert world.scalar("SELECT count(*) FROM wishlist_items WHERE customer_id = ?", customer["id"]) >= 5
    in_cart = world.scalar("SELECT count(*) FROM cart_items WHERE customer_id = ?", customer["id"])
    assert (in_cart == 0) == (customer["email"] == NORA)


def test_some_customers_have_ordered_hundreds_of_times_over_years(world):
    found = world.rows(
        "SELECT min(created_at) AS first, count(*) AS n FROM orders GROUP BY customer_id HAVING n >= 200"
    )
    assert len(found) == 6
    assert all(row["first"] < "2022-01-01" for row in found)


def test_several_customers_have_several_open_orders(world):
    open_orders = world.rows(
        "SELECT count(*) AS n FROM orders WHERE status = 'pending' GROUP BY customer_id HAVING n > 1"
    )
    assert len(open_orders) >= 12


def test_zip_codes_fit_their_city(world):
    places = {tuple(place.rsplit(" ", 3)[:3]) for place in vocabulary("people")["cities"]}
    for row in world.rows("SELECT city, region, postcode FROM addresses"):
        assert (row["city"], row["region"], row["postcode"][:3]) in places


def test_skus_have_no_pattern(world):
    numbers = [int(row["sku"].split("-")[1]) for row in world.rows("SELECT sku FROM products ORDER BY id")]
    steps = Counter(after - before for before, after in pairwise(numbers))
    assert steps.most_common(1)[0][1] < 5


def test_default_addresses_stand_anywhere_in_the_book(world):
    book = world.rows(
        "SELECT customer_id, is_default_shipping AS ship, is_default_billing AS bill FROM addresses ORDER BY id"
    )
    first = {row["customer_id"]: row for row in reversed(book)}
    assert sum(not row["ship"] for row in first.values()) >= 10
    assert sum(row["ship"] != row["bill"] for row in book if row["ship"]) >= 15


def test_texts_are_filled_in(world):
    for table, column in (("products", "description"), ("products", "name"), ("reviews", "text"), ("reviews", "title")):
        none(
            world,
            f"SELECT {column} FROM {table} WHERE {column} LIKE '%{{%' OR {column} LIKE '% ~ %' OR {column} = ''"
            f" OR {column} <> trim({column}) OR {column} LIKE '%  %'",
        )
    shouting = re.compile(r"\b(an? (?:[aeiou]\w* )?these)\b")
    assert not [row for row in world.rows("SELECT text FROM reviews") if shouting.search(row["text"])]


def test_reviews_do_not_repeat_themselves(world):
    several = world.scalar("SELECT count(DISTINCT text) FROM reviews")
    assert several > 0.85 * world.scalar("SELECT count(*) FROM reviews")


# --- arithmetic and grammar ------------------------------------------------------------------------------


def test_tax_is_rounded_half_up_and_shipping_can_be_free():
    assert TAX_RATES["TX"] == 625
    assert totals([(8, 1)], "express", "TX").tax == 1  # 0.5 cents
    assert totals([(1, 1)], "express", "OR").tax == 0
    assert shipping_cents("standard", 7499) == 595
    assert shipping_cents("standard", 7500) == 0
    assert shipping_cents("next_day", 7500) == 2495
    assert totals([(1999, 2), (500, 1)], "standard", "OR").total == 4498 + 595


@pytest.mark.parametrize(
    ("ounces", "text"),
    [(1, "1 oz"), (15, "15 oz"), (16, "1 lb"), (35, "2 lb 3 oz"), (0, "0 oz"), (16 * 1200 + 1, "1,200 lb 1 oz")],
)
def test_weight(ounces, text):
    assert weight(ounces) == text


@pytest.mark.parametrize(("cents", "text"), [(0, "$0.00"), (5, "$0.05"), (123456, "$1,234.56"), (-995, "-$9.95")])
def test_money(cents, text):
    assert money(cents) == text


@pytest.mark.parametrize(("total", "count", "tenths"), [(0, 0, 0), (5, 1, 50), (9, 2, 45), (17, 4, 43), (13, 3, 43)])
def test_average_rating_is_rounded_half_up(total, count, tenths):
    assert tenths_of_stars(total, count) == tenths


def test_long_date():
    assert long_date("2026-02-03 10:00:00") == "February 3, 2026"


def test_grammar():
    assert short_noun("Burr Coffee Grinder") == "grinder"
    assert short_noun("Reflective Vest for Dogs") == "vest"
    assert short_noun("Multi-Pot with Steamer") == "multi-pot"
    assert [this(noun) for noun in ("grinder", "boots", "press", "couscous")] == ["this", "these", "this", "this"]
    assert plain_case("Cool-Touch Handle") == "cool-touch handle"
    assert plain_case("PFOA Free") == "PFOA free"


def test_a_shop_can_be_small_and_of_no_size_that_nobody_knows(world, small):
    for table in ("products", "customers", "orders", "reviews"):
        few, usual = (one.scalar(f"SELECT count(*) FROM {table}") for one in (small, world))
        assert 0 < few < usual / 2, table
    with pytest.raises(InputError, match="no scale 'tiny'"):
        snapshot(SITE, 0, CACHE, "tiny")
