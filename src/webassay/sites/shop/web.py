"""What every page of the shop shares: the customer, the cart, the departments."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from webassay.sites.kit import Row, World
from webassay.sites.receipts import collected
from webassay.sites.shop import commerce
from webassay.sites.shop.pictures import picture
from webassay.sites.shop.seeding.words import TODAY
from webassay.sites.web.app import Visit, WebSite
from webassay.sites.web.dates import stamp
from webassay.sites.web.lists import same_list
from webassay.sites.web.sessions import Sessions

NEW_DAYS = 59
"""How long a product is called new."""


@dataclass(frozen=True)
class Category:
    id: int
    parent_id: int | None
    name: str
    path: str
    level: int
    children: list["Category"] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"/c/{self.path}"

    def shelves(self) -> list["Category"]:
        """The categories at the bottom of this one, which hold its products."""
        return [shelf for child in self.children for shelf in child.shelves()] if self.children else [self]


class ShopVisit(Visit):
    @property
    def customer(self) -> Row | None:
        return self.user

    @property
    def customer_id(self) -> int:
        return self.user_id

    @property
    def checkout(self) -> dict[str, Any]:
        """What was entered so far."""
        entered: dict[str, Any] = json.loads(self.session.get("checkout", "{}"))
        return entered

    def switch_session(self, user_id: int | None) -> None:
        old = self.token
        super().switch_session(user_id)
        self.world.db.execute("UPDATE OR IGNORE recently_viewed SET token = ? WHERE token = ?", (self.token, old))

    def context(self) -> dict[str, Any]:
        return {
            "customer": self.customer,
            "departments": category_tree(self.world)[0],
            "menu": _catalog(self.world)[1],
            "cart_count": self.cart_count(),
            "today": stamp(self.world.now())[:10],
        }

    def render(self, template: str, status: int = 200, **context: Any) -> Response:
        if status == 404 and not context.get("detail"):
            # What a missing page says is a page of the back office, too.
            found = self.world.row("SELECT id, title, content FROM cms_pages WHERE url_key = 'no-route' AND enabled")
            if found is not None:
                context |= {"reason": found["title"], "detail": found["content"]}
        return super().render(template, status, **context)

    def cart_count(self) -> int:
        count: int = self.world.scalar(
            "SELECT ifnull(sum(quantity), 0) FROM cart_items WHERE customer_id IS ? AND visitor = ?", *self.cart_owner
        )
        return count

    @property
    def cart_owner(self) -> tuple[int | None, str]:
        """Customer and visitor, as in the cart's rows. A visitor without a session owns nothing."""
        return (self.customer["id"], "") if self.customer else (None, self.token or "-")


WEB = WebSite(
    package="webassay.sites.shop",
    name="Tallybrook",
    sessions=Sessions("tallybrook_session", users="customers", user_id="customer_id", fresh={"checkout": "{}"}),
    visit=ShopVisit,
    style="shop.css",
    script="shop.js",
    filters={"money": commerce.money, "weight": commerce.weight},
    names={
        "picture": picture,
        "same_list": same_list,
        "new_since": (TODAY - timedelta(days=NEW_DAYS)).isoformat(),
        "return_days": commerce.RETURN_DAYS,
        "tenths": commerce.tenths_of_stars,
        "states": commerce.STATES,
        "shipping_methods": commerce.SHIPPING_METHODS,
        "free_shipping_from": commerce.FREE_SHIPPING_FROM,
        "shipping_names": {method.code: method.name for method in commerce.SHIPPING_METHODS},
        "payment_names": commerce.PAYMENT_METHODS,
    },
)

# --- the catalog ------------------------------------------------------------------------------------------

Tree = tuple[list[Category], dict[int, Category]]


def category_tree(world: World) -> Tree:
    """The departments, and every category by its id."""
    return _catalog(world)[0]


# Categories hardly ever change and are on every page: what is built from them is kept, by the rows themselves.
_CATALOGS: dict[tuple[object, ...], tuple[Tree, Markup]] = {}
_MOST_CATALOGS = 8


def _catalog(world: World) -> tuple[Tree, Markup]:
    """The tree, and the menu."""
    rows = (collected() is not None, *world.db.execute(_CATEGORIES))
    if rows not in _CATALOGS:
        while len(_CATALOGS) >= _MOST_CATALOGS:
            _CATALOGS.pop(next(iter(_CATALOGS)))
        tree = _tree(world.rows(_CATEGORIES))
        menu = Markup(WEB.environment.get_template("_menu.html").render(departments=tree[0]))
        _CATALOGS[rows] = tree, menu
    return _CATALOGS[rows]


_CATEGORIES = "SELECT id, parent_id, name, path, level FROM categories ORDER BY level, position"


def _tree(rows: list[Row]) -> Tree:
    by_id: dict[int, Category] = {}
    departments: list[Category] = []
    for row in rows:
        number, parent, name, path, level = row.values()
        by_id[number] = category = Category(number, parent, name, path, level)
        (departments if parent is None else by_id[parent].children).append(category)
    return departments, by_id


def move_subscription(world: World, before: str, after: str) -> None:
    """Whoever gets the newsletter gets it at the new address. Call inside a write."""
    if before != after:
        world.db.execute("UPDATE OR REPLACE newsletter_subscribers SET email = ? WHERE email = ?", (after, before))


def product_options(world: World, product_id: int) -> dict[str, list[str]]:
    """The options a buyer has to choose, size before color."""
    options: dict[str, list[str]] = {}
    for row in world.rows(
        "SELECT product_id, name, value FROM product_options WHERE product_id = ? ORDER BY name DESC, position",
        product_id,
    ):
        options.setdefault(row["name"], []).append(row["value"])
    return options
