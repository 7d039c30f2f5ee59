"""Pages made by hand, for agents that are tested without a browser."""

from dataclasses import replace

from webassay.core.interaction import Goal, Node, Observation, Tab
from webassay.core.protocols import ARENA_PROTOCOL

GOAL = Goal(
    instruction="How much did I spend on lamps in March 2024?",
    start_urls=("http://shop.test/",),
    protocol=ARENA_PROTOCOL,
    sites=("shopping",),
    hints=("you are logged in as Ana",),
)

TREE = """RootWebArea 'Orders'
\t[4] link 'Home'
\t[7] heading 'My Orders'
\t[9] table ''
\t\t[10] row '#189 2 March $25.50'
\t\t[12] row '#191 9 March $4.50'
\t[20] combobox 'Sort by' value='Date', hasPopup='menu', expanded=False
\t\t[21] option 'Date', selected=True
\t\t[22] option 'Total'
\t[30] textbox 'Search'
\tStaticText 'Page 1 of 2'
\t[33] link 'Next'"""

PRUNED = """RootWebArea 'Orders'
\tlink [4] 'Home'
\theading 'My Orders'
\ttable
\t\t| # | date | total |
\t\t| 189 | 2 March | $25.50 |
\t\t| 191 | 9 March | $4.50 |
\tcombobox [20] 'Sort by: Date; Total'
\ttextbox [30] 'Search'
\ttext 'Page 1 of 2'
\tlink [33] 'Next'"""

NODES = (
    Node("1", "RootWebArea", "Orders", 0),
    Node("4", "link", "Home", 1),
    Node("20", "combobox", "Sort by", 1, value="Date"),
    Node("21", "option", "Date", 2),
    Node("22", "option", "Total", 2),
    Node("30", "textbox", "Search", 1),
    Node("33", "link", "Next", 1),
)

ORDERS = Observation(
    url="http://shop.test/orders",
    title="Orders",
    tabs=(Tab("http://shop.test/orders", "Orders"), Tab("about:blank", "")),
    active_tab=0,
    tree=TREE,
    nodes=NODES,
    pruned=PRUNED,
    focused="30",
)


def page(step: int, **changes: object) -> Observation:
    return replace(ORDERS, step=step, **changes)  # type: ignore[arg-type]


def tagged(action: str, *, think: str = "", memory: str = "") -> str:
    parts = {"think": think, "memory": memory, "action": action}
    return "\n".join(f"<{tag}>\n{text}\n</{tag}>" for tag, text in parts.items() if text)


def occam_reply(action: str, *, reason: str = "It follows.", highlight: str = "", description: str = "Orders.") -> str:
    return (
        "INTERACTION HISTORY SUMMARY:\nNothing yet.\n\n"
        f"OBSERVATION DESCRIPTION:\n{description}\n\n"
        f"REASON:\n{reason}\n\nACTION:\n{action}\n\nOBSERVATION HIGHLIGHT:\n{highlight}"
    )
