"""Reference solutions of the shop's templates. They see pages and parameters, as an agent sees pages and a goal."""

import re
from collections import Counter
from collections.abc import Generator
from typing import NamedTuple, TypeVar

from webassay.benchmarks.arena.template import Parameters, Walk
from webassay.benchmarks.arena.walking import (
    Steps,
    below,
    choose,
    click,
    dollars,
    every_page,
    fill,
    groups,
    need,
    text_of,
)
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Goal, Observation
from webassay.core.record import Json

T = TypeVar("T")
Finding = Generator[Action, Observation, T]

SEARCH = "Search the entire store"
ALL_ON_A_PAGE = "36"
PRICE = r"\$[\d,]+\.\d\d"


def answer(action: str, results: list[Json] | None = None) -> Json:
    return {"action": action, "status": "SUCCESS", "results": results}


def failure(action: str, status: str, why: str) -> Json:
    return {"action": action, "status": status, "results": None, "error_details": why}


def money(cents: int) -> str:
    return f"${cents // 100}.{cents % 100:02d}"


# --- getting about --------------------------------------------------------------------------------------


def search(page: Observation, words: str) -> Steps:
    page = yield from fill(page, "combobox", SEARCH, words)
    return (yield Action.of("keyboard_press", "Enter"))


def open_product(page: Observation, name: str) -> Steps:
    page = yield from search(page, name)
    return (yield from click(page, "link", name))


def open_shelf(page: Observation, shelf: Json) -> Steps:
    """Through the menu that opens under the mouse."""
    department, _, name = str(shelf).split(" > ")
    page = yield Action.of("hover", need(page, "link", department).id)
    return (yield from click(page, "link", name))


class Card(NamedTuple):
    name: str
    cents: int
    reviews: int
    tenths: int
    """Average rating times ten; 0 without reviews."""


def cards(page: Observation) -> list[Card]:
    found = []
    for _, inside in groups(page, "listitem"):
        names = [node.name for node in inside if node.role == "link"]
        prices = [node.name for node in inside if node.role == "StaticText" and re.fullmatch(PRICE, node.name)]
        if not prices or not names:
            continue
        # On sale, the price of today stands before the old one.
        reviews = next((int(match[1]) for name in names if (match := re.fullmatch(r"([\d,]+) reviews?", name))), 0)
        stars = next((node.name for node in inside if node.role == "image" and "out of 5" in node.name), "0.0")
        found.append(Card(names[0], dollars(prices[0]), reviews, int(stars[0]) * 10 + int(stars[2])))
    return found


def shelf_cards(page: Observation, shelf: Json) -> Finding[list[Card]]:
    page = yield from open_shelf(page, shelf)
    page = yield from choose(page, "Show", ALL_ON_A_PAGE)
    pages = yield from every_page(page, "Next")
    return [card for one in pages for card in cards(one)]


class Review(NamedTuple):
    stars: int
    nickname: str


def reviews_of(page: Observation, product: Json) -> Finding[list[Review]]:
    page = yield from open_product(page, str(product))
    page = yield from click(page, "tab", contains="Reviews (")
    found = []
    for one in (yield from every_page(page, "Next")):
        for _, inside in groups(one, "article"):
            rating = next((node.name for node in inside if node.name.startswith("Rating: ")), None)
            if rating is not None:
                strong = next(node for node in inside if node.role == "strong")
                found.append(Review(int(rating.split()[1]), text_of(below(one, strong)) or strong.name))
    return found


class Order(NamedTuple):
    number: str
    month: str
    year: int
    cents: int
    status: str


def all_orders(page: Observation) -> Finding[list[Order]]:
    page = yield from click(page, "link", "Orders")
    found = []
    for one in (yield from every_page(page, "Next")):
        for _, inside in groups(one, "row"):
            cells = [node.name for node in inside if node.role == "cell"]
            if len(cells) >= 5:
                month, _, year = cells[1].split()
                found.append(Order(cells[0], f"{month} {year}", int(year), dollars(cells[3]), cells[4].casefold()))
    return found


class Item(NamedTuple):
    name: str
    sku: str
    cents: int
    quantity: int


def open_order(page: Observation, number: Json) -> Steps:
    page = yield from click(page, "link", "Orders")
    while page.find("link", f"View Order {number}") is None:
        page = yield from click(page, "link", "Next")
    return (yield from click(page, "link", f"View Order {number}"))


def items(page: Observation) -> list[Item]:
    found = []
    for _, inside in groups(page, "row"):
        cells = [node.name for node in inside if node.role == "cell"]
        link = next((node for node in inside if node.role == "link"), None)
        if len(cells) >= 5 and link is not None:
            found.append(Item(link.name, cells[1], dollars(cells[2]), int(cells[3].split()[-1])))
    return found


# --- retrieve -------------------------------------------------------------------------------------------


def low_reviews(goal: Goal, p: Parameters, page: Observation) -> Walk:
    reviews = yield from reviews_of(page, p["product"])
    return answer("retrieve", [sum(review.stars <= int(str(p["stars"])) for review in reviews)])


def rating_distribution(goal: Goal, p: Parameters, page: Observation) -> Walk:
    reviews = yield from reviews_of(page, p["product"])
    counted = Counter(review.stars for review in reviews)
    return answer("retrieve", [counted[stars] for stars in (5, 4, 3, 2, 1)])


def critical_reviewers(goal: Goal, p: Parameters, page: Observation) -> Walk:
    reviews = yield from reviews_of(page, p["product"])
    return answer("retrieve", [review.nickname for review in reviews if review.stars == p["stars"]])


def price_range_total(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from open_shelf(page, p["shelf"])
    page = yield from fill(page, "textbox", "From $", str(p["low"]))
    page = yield from fill(page, "textbox", "To $", str(p["high"]))
    page = yield from click(page, "button", "Apply Price")
    pages = yield from every_page(page, "Next")
    return answer("retrieve", [money(sum(card.cents for one in pages for card in cards(one)))])


def heaviest_product(goal: Goal, p: Parameters, page: Observation) -> Walk:
    heaviest = (0, "")
    listing = yield from open_shelf(page, p["shelf"])
    listing = yield from choose(listing, "Show", ALL_ON_A_PAGE)
    for card in cards(listing):
        page = yield from click(listing, "link", card.name)
        heaviest = max(heaviest, (grams(page), fact(page, "SKU")))
        listing = yield Action.of("go_back")
    return answer("retrieve", [heaviest[1]])


def fact(page: Observation, name: str) -> str:
    """A line of the table on a product page."""
    for _, inside in groups(page, "row"):
        if inside and inside[0].role == "rowheader" and inside[0].name == name:
            return next(node.name for node in inside if node.role == "cell")
    raise AgentError(f"There is no {name} on {page.url}.")


def grams(page: Observation) -> int:
    return int(fact(page, "Weight").removesuffix(" g").replace(",", ""))


def most_reviewed_total(goal: Goal, p: Parameters, page: Observation) -> Walk:
    found = yield from shelf_cards(page, p["shelf"])
    most = sorted(found, key=lambda card: -card.reviews)[: int(str(p["count"]))]
    return answer("retrieve", [money(sum(card.cents for card in most))])


def month_spend(goal: Goal, p: Parameters, page: Observation) -> Walk:
    orders = yield from all_orders(page)
    kept = [order for order in orders if order.month == p["month"] and order.status != "canceled"]
    return answer("retrieve", [money(sum(order.cents for order in kept))])


def orders_by_status(goal: Goal, p: Parameters, page: Observation) -> Walk:
    orders = [order for order in (yield from all_orders(page)) if order.status == p["status"]]
    return answer("retrieve", [{"count": len(orders), "total": money(sum(order.cents for order in orders))}])


def dearest_purchase(goal: Goal, p: Parameters, page: Observation) -> Walk:
    orders = yield from all_orders(page)
    bought: list[Item] = []
    for order in orders:
        if order.year == p["year"]:
            page = yield from open_order(page, order.number)
            bought += items(page)
    return answer("retrieve", [max(bought, key=lambda item: item.cents).sku])


def order_weight(goal: Goal, p: Parameters, page: Observation) -> Walk:
    order = yield from open_order(page, p["order"])
    total = 0
    for item in items(order):
        page = yield from click(order, "link", item.name)
        total += item.quantity * grams(page)
        order = yield Action.of("go_back")
    return answer("retrieve", [total])


# --- navigate -------------------------------------------------------------------------------------------


def open_cheapest(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from open_shelf(page, p["shelf"])
    page = yield from choose(page, "Show", ALL_ON_A_PAGE)
    page = yield from choose(page, "Sort By", "Price")
    while True:
        card = next((card for card in cards(page) if card.reviews >= int(str(p["reviews"]))), None)
        if card is not None:
            yield from click(page, "link", card.name)
            return answer("navigate")
        page = yield from click(page, "link", "Next")


def order_with(page: Observation, product: Json) -> Steps:
    """The order page on which that article stands."""
    for order in (yield from all_orders(page)):
        page = yield from open_order(page, order.number)
        if any(item.name == product for item in items(page)):
            return page
    raise AgentError(f"{product!r} stands in no order.")


def open_order_with(goal: Goal, p: Parameters, page: Observation) -> Walk:
    yield from order_with(page, p["product"])
    return answer("navigate")


# --- mutate ---------------------------------------------------------------------------------------------


def cart_cheapest_well_rated(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from open_shelf(page, p["shelf"])
    page = yield from choose(page, "Show", ALL_ON_A_PAGE)
    pages = yield from every_page(page, "Next")
    good = [card for one in pages for card in cards(one) if card.tenths >= int(str(p["tenths"]))]
    page = yield from open_product(pages[-1], min(good, key=lambda card: card.cents).name)
    page = yield from fill(page, "spinbutton", "Quantity", str(p["quantity"]))
    yield from click(page, "button", "Add to Cart")
    return answer("mutate")


def wish_for_order(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from open_order(page, p["order"])
    for item in items(page):
        product = yield from click(page, "link", item.name)
        page = yield from click(product, "button", "Add to Wish List")
        page = yield from open_order(page, p["order"])
    return answer("mutate")


def change_address(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from click(page, "link", "My Account")
    page = yield from click(page, "link", "Address Book")
    shipping = next(
        inside
        for _, inside in groups(page, "region")
        if any(node.name == "Default Shipping Address" for node in inside)
    )
    edit = next(node for node in shipping if node.role == "link" and node.name.startswith("Edit"))
    page = yield Action.of("click", edit.id)
    page = yield from fill(page, "textbox", "Street Address", str(p["street"]))
    page = yield from fill(page, "textbox", "ZIP Code", str(p["postcode"]))
    yield from click(page, "button", "Save Address")
    return answer("mutate")


def review_dearest(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from click(page, "link", "Orders")
    page = yield from click(page, "link", contains="View Order")
    page = yield from click(page, "link", max(items(page), key=lambda item: item.cents).name)
    page = yield from click(page, "tab", contains="Reviews (")
    stars = p["stars"]
    page = yield from click(page, "radio", "1 star" if stars == 1 else f"{stars} stars")
    page = yield from fill(page, "textbox", "Nickname", str(p["nickname"]))
    page = yield from fill(page, "textbox", "Summary", str(p["title"]))
    page = yield from fill(page, "textbox", "Review", str(p["text"]))
    yield from click(page, "button", "Submit Review")
    return answer("mutate")


def cancel_order_with(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from order_with(page, p["product"])
    yield from click(page, "button", "Cancel Order")
    return answer("mutate")


# --- unachievable ---------------------------------------------------------------------------------------


def price_of_nothing(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from search(page, str(p["product"]))
    if any(card.name == p["product"] for card in cards(page)):
        raise AgentError(f"{p['product']!r} is sold after all.")
    return failure("retrieve", "NOT_FOUND_ERROR", "No product of that name is sold here.")


def cancel_too_late(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from open_order(page, p["order"])
    if page.find("button", "Cancel Order") is not None:
        raise AgentError(f"Order {p['order']} can be canceled after all.")
    return failure("mutate", "ACTION_NOT_ALLOWED_ERROR", "The order cannot be canceled any more.")


def cart_sold_out(goal: Goal, p: Parameters, page: Observation) -> Walk:
    page = yield from open_product(page, str(p["product"]))
    if page.find("StaticText", "Out of stock") is None:
        raise AgentError(f"{p['product']!r} can be had after all.")
    return failure("mutate", "ACTION_NOT_ALLOWED_ERROR", "The product is out of stock.")
