"""How to get about in the shop and read its pages, for reference solutions."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from webassay.arena.kit.dates import MONTHS
from webassay.arena.kit.looking import ticked
from webassay.arena.kit.walking import (
    Reading,
    Steps,
    below,
    beside,
    choose,
    click,
    every_page,
    fill,
    go_back,
    groups,
    need,
    send,
    text_of,
)
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Node, Observation

SEARCH = "Search the entire store"
PRODUCTS_ON_A_PAGE = 36
ORDERS_ON_A_PAGE = 20
REVIEWS_ON_A_PAGE = 10
"""As many as the shop offers."""
FEW_PRODUCTS, FEW_ORDERS = 12, 10
"""What a list shows unless it is asked for more."""
PRICE = r"\$[\d,]+\.\d\d"


def cents(price: str) -> int:
    """`$1,234.50` is 123450."""
    return round(float(price.replace("$", "").replace(",", "").strip()) * 100)


def dollars(cents: int) -> str:
    return f"${cents // 100}.{cents % 100:02d}"


# --- the catalog ----------------------------------------------------------------------------------------


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


def open_place(page: Observation, place: str) -> Steps:
    """A department, or what the menu shows that opens under the mouse."""
    department, *inner = place.split(" > ")
    if not inner:
        return (yield from click(page, "link", department))
    page = yield Action.of("hover", need(page, "link", department).id)
    return (yield from click(page, "link", inner[-1]))


def open_long_place(page: Observation, place: str) -> Steps:
    """With as many products on a page as the shop offers."""
    page = yield from open_place(page, place)
    return (yield from choose(page, "Show", str(PRODUCTS_ON_A_PAGE)))


def in_card(page: Observation, product: str, role: str, pattern: str) -> Node:
    """A part of a product's card, by its name."""
    for inside in groups(page, "listitem"):
        if any(node.role == "link" and node.name == product for node in inside):
            found = next((node for node in inside if node.role == role and re.fullmatch(pattern, node.name)), None)
            if found is not None:
                return found
    raise AgentError(f"No card of {product!r} has a {role} {pattern!r} on {page.url}.")


def says(page: Observation, product: str, text: str) -> bool:
    """Whether a product's card has this text."""
    return any(
        any(node.role == "link" and node.name == product for node in inside) and text in text_of(inside)
        for inside in groups(page, "listitem")
    )


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
    return beside(page, name).name


def ounces(page: Observation) -> int:
    """`2 lb 3 oz` is 35."""
    weight = {unit: int(number.replace(",", "")) for number, unit in _PARTS.findall(product_fact(page, "Weight"))}
    return 16 * weight.get("lb", 0) + weight.get("oz", 0)


_PARTS = re.compile(r"([\d,]+) (lb|oz)")


class PackageCard(NamedTuple):
    """What is ticked on the card that lies in the package."""

    origin: str
    months: int


def read_package_card(page: Observation) -> Reading[PackageCard]:
    """From a product's page to the picture, by itself."""
    page = yield Action.of("goto", page.url.partition("?")[0].partition("#")[0] + "/label.svg")
    marks = [node.name for node in ticked(page)]
    if len(marks) != 2 or not marks[1].isdigit():
        raise AgentError(f"The card on {page.url} is ticked at {', '.join(marks) or 'nothing'}.")
    return PackageCard(marks[0], int(marks[1]))


# --- orders -----------------------------------------------------------------------------------------------


class Order(NamedTuple):
    number: str
    year: int
    month: int
    cents: int
    status: str

    @property
    def year_month(self) -> str:
        """As `2025-03`."""
        return f"{self.year}-{self.month:02d}"


class Item(NamedTuple):
    name: str
    sku: str
    cents: int
    quantity: int


Wanted = Callable[[Order], bool]


def open_orders(page: Observation, on_a_page: int = ORDERS_ON_A_PAGE) -> Steps:
    page = yield from click(page, "link", "Orders")
    if page.find("link", "Next") is not None:
        page = yield from choose(page, "Show", str(on_a_page))
    return page


def table(page: Observation) -> Iterator[tuple[list[str], str]]:
    """For every row with five cells or more: what stands in them, and the first link."""
    for inside in groups(page, "row"):
        cells = [node.name for node in inside if node.role == "cell"]
        if len(cells) >= 5:
            yield cells, next((node.name for node in inside if node.role == "link"), "")


def listed_orders(page: Observation) -> list[Order]:
    found = []
    for cells, _ in table(page):
        month, _, year = cells[1].split()
        found.append(Order(cells[0], int(year), MONTHS.index(month) + 1, cents(cells[3]), cells[4].casefold()))
    return found


def all_orders(page: Observation, on_a_page: int = ORDERS_ON_A_PAGE) -> Reading[list[Order]]:
    page = yield from open_orders(page, on_a_page)
    return [order for one in (yield from every_page(page)) for order in listed_orders(one)]


def all_orders_until(page: Observation, past: Wanted) -> Reading[list[Order]]:
    """The newest first, up to the page on which one is past what is looked for."""
    page = yield from open_orders(page)
    found = listed_orders(page)
    while not past(found[-1]) and page.find("link", "Next") is not None:
        page = yield from click(page, "link", "Next")
        found += listed_orders(page)
    return found


def opened_orders(
    page: Observation, wanted: Wanted, past: Wanted = lambda order: False
) -> Reading[list[tuple[Order, Observation]]]:
    """Opens the wanted ones from the list, the newest first, until one is past what is looked for."""
    found: list[tuple[Order, Observation]] = []
    page = yield from open_orders(page)
    while True:
        for order in listed_orders(page):
            if past(order):
                return found
            if wanted(order):
                opened = yield from click(page, "link", f"View Order {order.number}")
                found.append((order, opened))
                page = yield from go_back()
        if page.find("link", "Next") is None:
            return found
        page = yield from click(page, "link", "Next")


def read_orders(
    page: Observation, wanted: Wanted, past: Wanted = lambda order: False
) -> Reading[list[tuple[Order, list[Item]]]]:
    return [(order, items(opened)) for order, opened in (yield from opened_orders(page, wanted, past))]


def find_order(page: Observation, number: str) -> Steps:
    """To the page of the list where the order stands."""
    page = yield from open_orders(page)
    while page.find("link", f"View Order {number}") is None:
        page = yield from click(page, "link", "Next")
    return page


def open_order(page: Observation, number: str) -> Steps:
    page = yield from find_order(page, number)
    return (yield from click(page, "link", f"View Order {number}"))


def open_order_with(
    page: Observation, product: str, wanted: Wanted = lambda order: True, *, oldest_first: bool = False
) -> Steps:
    """Opens one after the other, the newest first, until one has the product."""
    page = yield from open_orders(page)
    if oldest_first:
        page = (yield from every_page(page))[-1]
    while True:
        listed = [order for order in listed_orders(page) if wanted(order)]
        for order in reversed(listed) if oldest_first else listed:
            opened = yield from click(page, "link", f"View Order {order.number}")
            if any(item.name == product for item in items(opened)):
                return opened
            page = yield from go_back()
        page = yield from click(page, "link", "Previous" if oldest_first else "Next")


def items(page: Observation) -> list[Item]:
    """The articles on an order's page."""
    rows = table(page)
    return [Item(name, cells[1], cents(cells[2]), int(cells[3].split()[-1])) for cells, name in rows if name]


# --- reviews ----------------------------------------------------------------------------------------------


_VOTES = re.compile(r"(\d+) of (\d+) found this review helpful")


class ShownReview(NamedTuple):
    stars: int
    nickname: str
    helpful: int = 0
    votes: int = 0
    """How many people voted."""


def open_reviews(page: Observation) -> Steps:
    """From a product's page."""
    return (yield from click(page, "tab", contains="Reviews ("))


def all_reviews(page: Observation) -> Reading[list[ShownReview]]:
    """From the first page of reviews to the last."""
    found = []
    for one in (yield from every_page(page)):
        for inside in groups(one, "article"):
            rating = next((node.name for node in inside if node.name.startswith("Rating: ")), None)
            if rating is not None:
                strong = next(node for node in inside if node.role == "strong")
                votes = next((match for node in inside if (match := _VOTES.fullmatch(node.name))), None)
                helpful, voted = (int(votes[1]), int(votes[2])) if votes else (0, 0)
                found.append(
                    ShownReview(int(rating.split()[1]), text_of(below(one, strong)) or strong.name, helpful, voted)
                )
    return found


def reviews_of(page: Observation, product: str) -> Reading[list[ShownReview]]:
    page = yield from open_product(page, product)
    page = yield from open_reviews(page)
    return (yield from all_reviews(page))


def reviews_from_card(page: Observation, product: str) -> Reading[list[ShownReview]]:
    """By the link with their number in the search result."""
    page = yield from search(page, product)
    page = yield Action.of("click", in_card(page, product, "link", r"[\d,]+ reviews?").id)
    return (yield from all_reviews(page))


# --- the cart ---------------------------------------------------------------------------------------------


class Offer(NamedTuple):
    """A coupon, as the list of coupons shows it."""

    code: str
    percent: int
    cents: int
    goods: str
    """A department, or `everything`."""
    minimum: int
    until: str
    """The last day, as 2026-03-31."""


class CartLine(NamedTuple):
    name: str
    cents: int
    """For all pieces."""


def open_coupons(page: Observation) -> Steps:
    return (yield from click(page, "link", "Coupons"))


def offers(page: Observation) -> list[Offer]:
    """Free shipping takes nothing off the goods."""
    found = []
    for cells, _ in table(page):
        much, _, goods = cells[1].partition(" off ")
        percent = int(much.rstrip("%")) if much.endswith("%") else 0
        amount = cents(much) if much.startswith("$") else 0
        minimum = cents(cells[2]) if "$" in cells[2] else 0
        found.append(Offer(cells[0], percent, amount, goods, minimum, _iso(cells[4])))
    return found


def _iso(day: str) -> str:
    """`March 31, 2026` is 2026-03-31."""
    month, number, year = day.replace(",", "").split()
    return f"{year}-{MONTHS.index(month) + 1:02d}-{int(number):02d}"


def open_cart(page: Observation) -> Steps:
    return (yield from click(page, "link", contains="Cart "))


def cart_lines(page: Observation) -> list[CartLine]:
    return [CartLine(name, cents(cells[3])) for cells, name in table(page) if name]


def apply_code(page: Observation, code: str) -> Steps:
    return (yield from send(page, "Apply Discount", {"Discount Code": code}))


def put_in_cart(page: Observation, quantity: int) -> Steps:
    """From a product's page."""
    page = yield from fill(page, "spinbutton", "Quantity", str(quantity))
    return (yield from click(page, "button", "Add to Cart"))


def open_newest_order(page: Observation, wanted: Wanted) -> Steps:
    page = yield from open_orders(page)
    while (newest := next(filter(wanted, listed_orders(page)), None)) is None:
        page = yield from click(page, "link", "Next")
    return (yield from click(page, "link", f"View Order {newest.number}"))
