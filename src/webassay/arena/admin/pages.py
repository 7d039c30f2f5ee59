"""How to get about in the back office and read its pages, for reference solutions."""

from collections.abc import Mapping

from webassay.arena.admin import office
from webassay.arena.kit.looking import gold_stars
from webassay.arena.kit.walking import Reading, Steps, below, beside, choose, click, every_page, fill, groups, send
from webassay.arena.shop.pages import cents, dollars
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Node, Observation

__all__ = ["cents", "dollars"]

ROWS_ON_A_PAGE = 100
"""As many as a grid offers."""
FEW_ROWS = 20
"""As many as it shows at first."""
TO_CHOOSE_COLUMNS = 13
"""Steps that it takes at the most."""

Line = Mapping[str, str]
"""A row of a table: the column's name to what stands there."""


# --- grids ------------------------------------------------------------------------------------------------


def narrow(page: Observation, typed: Mapping[str, str], chosen: Mapping[str, str] | None = None) -> Steps:
    """Filters a grid: what is typed, and what is chosen from a list, by the names of the fields."""
    page = yield from click(page, "DisclosureTriangle", "Filters")
    return (yield from send(page, "Apply Filters", typed, chosen))


def filtered(page: Observation, menu: str, typed: Mapping[str, str], chosen: Mapping[str, str] | None = None) -> Steps:
    """A grid, by its name in the menu."""
    page = yield from click(page, "link", menu)
    return (yield from narrow(page, typed, chosen))


def searched(page: Observation, menu: str, words: str) -> Steps:
    """A grid, by its name in the menu."""
    page = yield from click(page, "link", menu)
    return (yield from search(page, words))


def show_columns(page: Observation, *names: str) -> Steps:
    """Beside those that are shown."""
    page = yield from click(page, "DisclosureTriangle", "Columns")
    for name in names:
        page = yield from click(page, "checkbox", name)
    return (yield from click(page, "button", "Show Columns"))


def only_columns(page: Observation, *names: str) -> Steps:
    """Hides all others; also what one would know a row by."""
    page = yield from click(page, "DisclosureTriangle", "Columns")
    boxes = [node for node in page.find_all("checkbox") if not node.name.startswith("Select ")]
    for box in boxes:
        if (box.get("checked") == "true") != (box.name in names):
            page = yield from click(page, "checkbox", box.name)
    return (yield from click(page, "button", "Show Columns"))


def search(page: Observation, words: str) -> Steps:
    page = yield from fill(page, "searchbox", "Search by keyword", words)
    return (yield from click(page, "button", "Search"))


def lengthen(page: Observation, rows: int = ROWS_ON_A_PAGE) -> Steps:
    """That many rows on a page, if there is more than one page."""
    if page.find("link", "Next") is None:
        return page
    return (yield from choose(page, "Rows per page", str(rows)))


def lines(page: Observation) -> list[Line]:
    """The table that is on the page."""
    names: list[str] = []
    found: list[Line] = []
    for inside in groups(page, "row"):
        heads = [node.name for node in inside if node.role == "columnheader"]
        cells = [node.name for node in inside if node.role == "cell"]
        if heads:
            names = heads
        elif names and len(cells) == len(names):
            found.append(dict(zip(names, cells, strict=True)))
    return found


def line_with(page: Observation, column: str, value: str) -> Line:
    """The first row with that in the column."""
    return next(line for line in lines(page) if line[column] == value)


def all_lines(page: Observation) -> Reading[list[Line]]:
    """From this page of a grid to its last, with as many rows on each as it offers."""
    page = yield from lengthen(page)
    return [line for one in (yield from every_page(page)) for line in lines(one)]


def tick(page: Observation, *names: str) -> Steps:
    """By what stands in the first column."""
    for name in names:
        page = yield from click(page, "checkbox", f"Select {name}")
    return page


def open_row(page: Observation, name: str) -> Steps:
    """The link in the row with that in its first column."""
    for inside in groups(page, "row"):
        if any(node.role == "checkbox" and node.name == f"Select {name}" for node in inside):
            return (yield Action.of("click", next(node.id for node in inside if node.role == "link")))
    raise AgentError(f"There is no row {name} on {page.url}.")


def act(page: Observation, action: str) -> Steps:
    """With the rows that are ticked."""
    page = yield from choose(page, "Action", action)
    return (yield from click(page, "button", "Submit"))


def total(page: Observation) -> int:
    """How many rows a grid says that it found."""
    for node in page.nodes:
        words = node.name.split()
        if len(words) >= 3 and words[-1] == "found" and words[0].replace(",", "").isdigit():
            return int(words[0].replace(",", ""))
    raise AgentError(f"The grid on {page.url} does not say how many rows it has.")


# --- orders and reports -----------------------------------------------------------------------------------


def find_order(page: Observation, number: str) -> Steps:
    return (yield from searched(page, "Orders", number))


def orders_of(page: Observation, first: str, last: str, status: str = "") -> Steps:
    """The orders of these days, both included, with that status if one is given."""
    days = office.days("Purchase Date", first, last)
    return (yield from filtered(page, "Orders", days, {"Status": status} if status else {}))


def open_order(page: Observation, number: str) -> Steps:
    page = yield from find_order(page, number)
    return (yield from click(page, "link", number))


def open_product(page: Observation, sku: str, by_filter: bool = False) -> Steps:
    page = yield from (filtered(page, "Products", {"SKU": sku}) if by_filter else searched(page, "Products", sku))
    return (yield from click(page, "link", lines(page)[0]["Name"]))


def detail(page: Observation, name: str) -> str:
    """A line of one of the small tables."""
    return beside(page, name).name


def stars(page: Observation) -> int:
    """On the page of a review, where they are a picture."""
    return gold_stars(page, beside(page, "Summary Rating"))


def votes(page: Observation) -> tuple[int, int]:
    """How many found a review helpful, and how many voted: the name of a bar on its page."""
    inside = below(page, beside(page, "Votes"))
    words = next(node.name for node in inside if node.role in ("img", "image")).split()
    return (int(words[0]), int(words[2])) if words[0].isdigit() else (0, 0)


def report(page: Observation, name: str, days: tuple[str, str], period: str = "", status: str = "") -> Steps:
    """Shows a report, for these days, both of them included."""
    page = yield from click(page, "link", "All Reports")
    # The menu has an entry Orders, too, which is above.
    page = yield Action.of("click", list(page.find_all("link", name))[-1].id)
    chosen = {name: value for name, value in {"Period": period, "Order Status": status}.items() if value}
    return (yield from send(page, "Show Report", {"From": days[0], "To": days[1]}, chosen))


def goto(page: Observation, path: str) -> Steps:
    """An address of the same site."""
    scheme, _, rest = page.url.partition("://")
    return (yield Action.of("goto", f"{scheme}://{rest.partition('/')[0]}{path}"))


def switch_to(page: Observation, site: str) -> Steps:
    """The tab of another site."""
    number = next(number for number, tab in enumerate(page.tabs) if f"//{site}." in tab.url)
    return (yield Action.of("tab_focus", number))


def section(page: Observation, name: str) -> tuple[Node, ...]:
    found = next((node for node in page.nodes if node.role == "region" and node.name == name), None)
    if found is None:
        raise AgentError(f"There is no part {name!r} on {page.url}.")
    return below(page, found)
