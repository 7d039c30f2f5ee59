"""What every page of the back office shares: who is there, what they may do, and where everything is."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from webassay.sites.admin.rights import AREAS, ROLES, Role
from webassay.sites.kit import Row, World
from webassay.sites.receipts import ours_all
from webassay.sites.shop import commerce
from webassay.sites.web.app import Handler, Visit, WebSite, route
from webassay.sites.web.dates import short_date, short_time
from webassay.sites.web.forms import whole_number
from webassay.sites.web.grids import Grid, export_grid, read_grid
from webassay.sites.web.sessions import Sessions

ORDER_STATUSES = {
    "pending": "Pending", "processing": "Processing", "complete": "Complete", "canceled": "Canceled",
    "on hold": "On Hold", "closed": "Closed",
}  # fmt: skip


class MenuLink(NamedTuple):
    name: str
    path: str
    area: str


MENU: Mapping[str, tuple[MenuLink, ...]] = ours_all(
    {
        "Sales": (
            MenuLink("Orders", "/orders", "orders"),
            MenuLink("Invoices", "/invoices", "orders"),
            MenuLink("Shipments", "/shipments", "orders"),
            MenuLink("Credit Memos", "/refunds", "orders"),
        ),
        "Catalog": (
            MenuLink("Products", "/products", "products"),
            MenuLink("Categories", "/categories", "products"),
            MenuLink("Attributes", "/attributes", "products"),
        ),
        "Customers": (MenuLink("All Customers", "/customers", "customers"),),
        "Marketing": (
            MenuLink("Catalog Price Rules", "/price-rules", "marketing"),
            MenuLink("Cart Price Rules", "/coupons", "marketing"),
            MenuLink("All Reviews", "/reviews", "reviews"),
            MenuLink("Pending Reviews", "/reviews/pending", "reviews"),
        ),
        "Content": (MenuLink("Pages", "/pages", "content"),),
        "Reports": (MenuLink("All Reports", "/reports", "reports"),),
        "System": (MenuLink("Users", "/users", "staff"),),
    }
)


class OfficeVisit(Visit):
    log_in_path = "/login"

    @property
    def role(self) -> Role:
        return ROLES[(self.user or {})["role"]]

    def may_change(self, area: str) -> bool:
        return not self.role.refusal(area, change=True)

    def context(self) -> dict[str, Any]:
        if self.user is None:
            return {"menu": {}, "role": None}
        allowed = {group: [link for link in links if link.area in self.role.sees] for group, links in MENU.items()}
        return {"menu": {group: links for group, links in allowed.items() if links}, "role": self.role}

    def number(self, name: str = "id") -> int:
        """From the address; 0, which nothing has, if it is not one."""
        return whole_number(self.request.path_params[name]) or 0

    def one(self, sql: str, *params: Any, what: str) -> Row:
        found = self.world.row(sql, *params)
        if found is None:
            raise HTTPException(404, f"There is no such {what}.")
        return found


WEB = WebSite(
    package="webassay.sites.admin",
    name="Tallybrook Back Office",
    sessions=Sessions("backoffice_session", users="admins", user_id="admin_id", login="username",
                      table="admin_sessions"),
    visit=OfficeVisit,
    style="admin.css",
    script="admin.js",
    filters={"money": commerce.money, "short_time": short_time, "short_date": short_date},
    names={
        "statuses": ORDER_STATUSES,
        "states": commerce.STATES,
        "areas": AREAS,
        "shipping_names": {method.code: method.name for method in commerce.SHIPPING_METHODS},
        "payment_names": commerce.PAYMENT_METHODS,
    },
)  # fmt: skip


def office(path: str, handler: Handler, *methods: str, area: str) -> Route:
    """A page for those whose role sees the area, and a form for those whose role changes it."""

    async def guarded(visit: OfficeVisit) -> Response:
        refusal = visit.role.refusal(area, change=visit.request.method == "POST")
        if refusal:
            raise HTTPException(403, refusal)
        return await handler(visit)

    return route(path, guarded, *methods, members_only=True)


def grid_routes(grid: Grid, area: str, new: str = "") -> list[Route]:
    """The grid and its export. `new`: what the button says that adds a row."""

    async def show(visit: OfficeVisit) -> Response:
        page = read_grid(visit.world, grid, visit.request.query_params)
        may = visit.may_change(area)
        act = f"/bulk{grid.path}" if grid.actions and may else ""
        problem = visit.role.refusal(area, change=True)
        status = 422 if page.errors else 200
        return visit.render("grid.html", status, page=page, act=act, new=new if may else "", problem=problem)

    async def export(visit: OfficeVisit) -> Response:
        return export_grid(visit.world, grid, visit.request.query_params)

    return [office(grid.path, show, area=area), office(f"{grid.path}/export", export, area=area)]


def shop_address(world: World) -> str:
    """Where the storefront is, if it is open as well; else empty."""
    return next((other.base for other in world.neighbors if other.name == "shop"), "")
