"""Sending things back: asking for a return, and what became of it."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.kit import Row
from webassay.sites.shop.account_pages import own_order
from webassay.sites.shop.returning import last_day, returnable, why_not_returnable
from webassay.sites.shop.seeding.returns import FIRST_RETURN, REASONS
from webassay.sites.shop.web import ShopVisit
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields
from webassay.sites.web.lists import Paging

RETURNS_ON_A_PAGE = 10


async def start(visit: ShopVisit) -> Response:
    """The form for one order."""
    order = own_order(visit)
    if problem := why_not_returnable(visit.world, order):
        raise HTTPException(409, problem)
    items = returnable(visit.world, order)
    form, status = FormFields({}), 200
    if visit.request.method == "POST":
        form = await visit.form()
        wanted = {item["id"]: form.number(f"quantity_{item['id']}", "Quantity", 0, item["left"]) for item in items}
        reason = form.choice("reason", "reason", REASONS)
        comment = form.text("comment", "Comment", most=1000, needed=False, lines=True)
        if not form.errors and not any(wanted.values()):
            form.errors["items"] = "Enter at least one item to return."
        if not form.errors:
            number = _add(visit, order, wanted, reason, comment)
            return visit.go(f"/account/returns/{number}", f"Your return {number} was requested.")
        status = 422
    return visit.render(
        "account_return_new.html", status, order=order, items=items, reasons=REASONS, last_day=last_day(order),
        errors=form.errors, values=form.values,
    )  # fmt: skip


async def listed(visit: ShopVisit) -> Response:
    total: int = visit.world.scalar("SELECT count(*) FROM returns WHERE customer_id = ?", visit.customer_id)
    paging = Paging.at(visit.request.query_params.get("p", "1"), RETURNS_ON_A_PAGE, total)
    rows = visit.world.rows(
        f"{_WITH_VALUE} WHERE t.customer_id = ? ORDER BY t.created_at DESC, t.id DESC LIMIT ? OFFSET ?",
        visit.customer_id, paging.size, paging.skipped,
    )  # fmt: skip
    return visit.render("account_returns.html", returns=rows, paging=paging, query=visit.request.query_params)


async def one(visit: ShopVisit) -> Response:
    found = _own_return(visit)
    items = visit.world.rows(
        "SELECT i.id, i.name, i.sku, i.options, i.unit_price_cents, r.return_id, r.order_item_id, r.quantity, p.slug"
        " FROM return_items AS r"
        " JOIN order_items AS i ON i.id = r.order_item_id JOIN products AS p ON p.id = i.product_id"
        " WHERE r.return_id = ? ORDER BY i.id",
        found["id"],
    )
    return visit.render("account_return.html", found=found, items=items)


async def withdraw(visit: ShopVisit) -> Response:
    """Asks first."""
    found = _own_return(visit)
    if found["status"] != "requested":
        raise HTTPException(409, f"Return {found['number']} is {found['status']} and can no longer be withdrawn.")
    if visit.request.method == "GET":
        return visit.render("account_return_withdraw.html", found=found)
    with visit.world.write() as db:
        db.execute("UPDATE returns SET status = 'withdrawn' WHERE id = ?", (found["id"],))
    return visit.go(f"/account/returns/{found['number']}", f"Return {found['number']} was withdrawn.")


_WITH_VALUE = (
    "SELECT t.*, o.id AS order_key, o.number AS order_number,"
    " (SELECT sum(r.quantity * i.unit_price_cents) FROM return_items AS r JOIN order_items AS i"
    " ON i.id = r.order_item_id WHERE r.return_id = t.id) AS value_cents"
    " FROM returns AS t JOIN orders AS o ON o.id = t.order_id"
)


def _own_return(visit: ShopVisit) -> Row:
    found = visit.world.row(f"{_WITH_VALUE} WHERE t.number = ?", visit.request.path_params["number"])
    if found is None:
        raise HTTPException(404, "We could not find this return.")
    if found["customer_id"] != visit.customer_id:
        raise HTTPException(403, "This return belongs to another customer.")
    return found


def _add(visit: ShopVisit, order: Row, wanted: dict[int, int], reason: str, comment: str) -> str:
    with visit.world.write() as db:
        return_id: int = visit.world.scalar("SELECT ifnull(max(id), 0) + 1 FROM returns")
        number = f"R{FIRST_RETURN + return_id}"
        db.execute(
            "INSERT INTO returns VALUES (?, ?, ?, ?, ?, ?, 'requested', ?)",
            (return_id, number, order["id"], visit.customer_id, reason, comment, stamp(visit.world.now())),
        )
        for item_id, quantity in wanted.items():
            if quantity:
                db.execute("INSERT INTO return_items VALUES (?, ?, ?)", (return_id, item_id, quantity))
    return number
