"""How to get about in the shop and read its pages, for reference solutions."""

import re
from typing import NamedTuple

from webassay.benchmarks.arena.walking import (
    Reading,
    Steps,
    below,
    choose,
    click,
    every_page,
    fill,
    groups,
    need,
    text_of,
)
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Observation

SEARCH = "Search the entire store"
MOST_ON_A_PAGE = "36"
PRICE = r"\$[\d,]+\.\d\d"


def cents(price: str) -> int:
    """`$1,234.50` is 123450."""
    return round(float(price.replace("$", "").replace(",", "").strip()) * 100)


def dollars(cents: int) -> str:
    return f"${cents // 100}.{cents % 100:02d}"


# --- the catalogue ----------------------------------------------------------------------------------------


class Card(NamedTuple):
    """A product in a list."""

    name: str
    cents: int
    reviews: int
    tenths: int
    """Average rating times ten; 0 without reviews."""


def search(page: Observation, words: str) -> Steps:
    yield from fill(page, "combobox", SEARCH, words)
    return (yield Action.of("keyboard_press", "Enter"))


def open_product(page: Observation, name: str) -> Steps:
    page = yield from search(page, name)
    return (yield from click(page, "link", name))


def open_shelf(page: Observation, shelf: str) -> Steps:
    """Through the menu that opens under the mouse."""
    department, _, name = shelf.split(" > ")
    page = yield Action.of("hover", need(page, "link", department).id)
    return (yield from click(page, "link", name))


def open_long_shelf(page: Observation, shelf: str) -> Steps:
    """With as many products on a page as the shop offers."""
    page = yield from open_shelf(page, shelf)
    return (yield from choose(page, "Show", MOST_ON_A_PAGE))


def cards(page: Observation) -> list[Card]:
    found = []
    for inside in groups(page, "listitem"):
        names = [node.name for node in inside if node.role == "link"]
        prices = [node.name for node in inside if node.role == "StaticText" and re.fullmatch(PRICE, node.name)]
        if not prices or not names:
            continue
        # On sale, today's price stands before the old one.
        reviews = next((int(match[1]) for name in names if (match := re.fullmatch(r"([\d,]+) reviews?", name))), 0)
        stars = next((node.name for node in inside if node.role == "image" and "out of 5" in node.name), "0.0")
        found.append(Card(names[0], cents(prices[0]), reviews, int(stars[0]) * 10 + int(stars[2])))
    return found


def all_cards(page: Observation) -> Reading[list[Card]]:
    """From this page of a list to its last."""
    pages = yield from every_page(page)
    return [card for one in pages for card in cards(one)]


def product_fact(page: Observation, name: str) -> str:
    """A line of the table on a product page."""
    for inside in groups(page, "row"):
        if inside and inside[0].role == "rowheader" and inside[0].name == name:
            return next(node.name for node in inside if node.role == "cell")
    raise AgentError(f"There is no {name} on {page.url}.")


def grams(page: Observation) -> int:
    return int(product_fact(page, "Weight").removesuffix(" g").replace(",", ""))


# --- orders -----------------------------------------------------------------------------------------------


class Order(NamedTuple):
    number: str
    month: str
    year: int
    cents: int
    status: str


class Item(NamedTuple):
    name: str
    sku: str
    cents: int
    quantity: int


def all_orders(page: Observation) -> Reading[list[Order]]:
    page = yield from click(page, "link", "Orders")
    found = []
    for one in (yield from every_page(page)):
        for inside in groups(one, "row"):
            cells = [node.name for node in inside if node.role == "cell"]
            if len(cells) >= 5:
                month, _, year = cells[1].split()
                found.append(Order(cells[0], f"{month} {year}", int(year), cents(cells[3]), cells[4].casefold()))
    return found


def open_order(page: Observation, number: str) -> Steps:
    page = yield from click(page, "link", "Orders")
    while page.find("link", f"View Order {number}") is None:
        page = yield from click(page, "link", "Next")
    return (yield from click(page, "link", f"View Order {number}"))


def open_order_with(page: Observation, product: str) -> Steps:
    for order in (yield from all_orders(page)):
        page = yield from open_order(page, order.number)
        if any(item.name == product for item in items(page)):
            return page
    raise AgentError(f"No order contains {product!r}.")


def items(page: Observation) -> list[Item]:
    """The articles on an order's page."""
    found = []
    for inside in groups(page, "row"):
        cells = [node.name for node in inside if node.role == "cell"]
        link = next((node for node in inside if node.role == "link"), None)
        if len(cells) >= 5 and link is not None:
            found.append(Item(link.name, cells[1], cents(cells[2]), int(cells[3].split()[-1])))
    return found


# --- reviews ----------------------------------------------------------------------------------------------


class Review(NamedTuple):
    stars: int
    nickname: str


def open_reviews(page: Observation) -> Steps:
    """From a product's page."""
    return (yield from click(page, "tab", contains="Reviews ("))


def reviews_of(page: Observation, product: str) -> Reading[list[Review]]:
    page = yield from open_product(page, product)
    page = yield from open_reviews(page)
    found = []
    for one in (yield from every_page(page)):
        for inside in groups(one, "article"):
            rating = next((node.name for node in inside if node.name.startswith("Rating: ")), None)
            if rating is not None:
                strong = next(node for node in inside if node.role == "strong")
                found.append(Review(int(rating.split()[1]), text_of(below(one, strong)) or strong.name))
    return found
