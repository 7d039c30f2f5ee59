"""Orders, and what becomes of them: comments, holds, invoices, shipments, refunds, new addresses."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.sites.admin.web import ORDER_STATUSES, OfficeVisit
from webassay.sites.kit import Row, World
from webassay.sites.shop.cart_pages import ADDRESS_FIELDS, read_address
from webassay.sites.shop.commerce import money
from webassay.sites.shop.seeding.office import CARRIERS, FIRST_INVOICE, FIRST_REFUND, FIRST_SHIPMENT, REFUND_REASONS
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields, safe_path
from webassay.sites.web.grids import picked

LONGEST_COMMENT = 1000

# --- what can be done -------------------------------------------------------------------------------------


def refusal(world: World, order: Row, action: str) -> str:
    """Why an action is not possible now, in words; empty if it is."""
    status = order["status"]
    invoiced = bool(world.scalar("SELECT 1 FROM invoices WHERE order_id = ?", order["id"]))
    shipped = bool(world.scalar("SELECT 1 FROM shipments WHERE order_id = ?", order["id"]))
    ended = status in ("canceled", "closed")
    possible = {
        "cancel": status == "pending" and not invoiced and not shipped,
        "hold": status in ("pending", "processing"),
        "unhold": status == "on hold",
        "invoice": status in ("pending", "processing") and not invoiced,
        "ship": status in ("pending", "processing") and not shipped,
        "refund": status in ("processing", "complete") and invoiced and left_to_refund(world, order) > 0,
        "address": not ended and not shipped,
    }
    if possible[action]:
        return ""
    if action == "invoice" and invoiced:
        return f"Order # {order['number']} has an invoice already."
    if action in ("ship", "address") and shipped:
        return f"Order # {order['number']} has been shipped already."
    if action == "refund" and not ended and status != "on hold":
        return f"There is nothing to refund on order # {order['number']}."
    verb = {"hold": "put on hold", "unhold": "released", "cancel": "canceled", "ship": "shipped",
            "invoice": "invoiced", "refund": "refunded", "address": "changed"}[action]  # fmt: skip
    return f"Order # {order['number']} is {status} and cannot be {verb}."


def left_to_refund(world: World, order: Row) -> int:
    gone: int = world.scalar("SELECT ifnull(sum(amount_cents), 0) FROM refunds WHERE order_id = ?", order["id"])
    return int(order["total_cents"]) - gone


def _after_unhold(world: World, order_id: int) -> str:
    known = "SELECT 1 FROM invoices WHERE order_id = ? UNION SELECT 1 FROM shipments WHERE order_id = ?"
    return "processing" if world.scalar(known, order_id, order_id) else "pending"


def _set_status(world: World, order: Row, action: str) -> str:
    """Call inside a write. Returns what it is now."""
    now = {"cancel": "canceled", "hold": "on hold"}.get(action) or _after_unhold(world, order["id"])
    world.db.execute("UPDATE orders SET status = ? WHERE id = ?", (now, order["id"]))
    return now


# --- pages ------------------------------------------------------------------------------------------------


def _order(visit: OfficeVisit) -> Row:
    return visit.one(
        "SELECT o.*, c.id AS customer_key, c.email, c.first_name || ' ' || c.last_name AS customer FROM orders AS o"
        " JOIN customers AS c ON c.id = o.customer_id WHERE o.number = ?",
        visit.request.path_params["number"], what="order",
    )  # fmt: skip


async def view(visit: OfficeVisit) -> Response:
    return _render(visit, _order(visit))


def _render(visit: OfficeVisit, order: Row, status: int = 200, form: str = "", **extra: object) -> Response:
    """`form`: the one whose errors are shown."""
    world, number = visit.world, order["id"]
    actions = ("cancel", "hold", "unhold", "invoice", "ship", "refund", "address")
    may = visit.may_change("orders")
    return visit.render(
        "order.html", status, order=order, form=form,
        items=world.rows("SELECT * FROM order_items WHERE order_id = ? ORDER BY id", number),
        addresses={row["kind"]: row for row in world.rows("SELECT * FROM order_addresses WHERE order_id = ?", number)},
        comments=world.rows(
            "SELECT m.*, a.first_name || ' ' || a.last_name AS author FROM order_comments AS m"
            " JOIN admins AS a ON a.id = m.admin_id WHERE m.order_id = ? ORDER BY m.id DESC", number),
        invoice=world.row("SELECT * FROM invoices WHERE order_id = ?", number),
        shipment=world.row("SELECT * FROM shipments WHERE order_id = ?", number),
        refunds=world.rows("SELECT * FROM refunds WHERE order_id = ? ORDER BY id", number),
        returns=world.rows("SELECT * FROM returns WHERE order_id = ? ORDER BY id", number),
        possible={one for one in actions if may and not refusal(world, order, one)},
        may=may, **({"errors": {}, "values": {}} | extra),
    )  # fmt: skip


def _possible(visit: OfficeVisit, action: str) -> Row:
    """The order, if the visitor may and the action is possible now: somebody else may have been quicker."""
    if refused := visit.role.refusal("orders", change=True):
        raise HTTPException(403, refused)
    order = _order(visit)
    if problem := refusal(visit.world, order, action):
        raise HTTPException(409, problem)
    return order


def _back(visit: OfficeVisit, order: Row, notice: str) -> Response:
    return visit.go(f"/orders/{order['number']}", notice)


async def change_status(visit: OfficeVisit) -> Response:
    """Cancel, hold and unhold."""
    action = visit.request.path_params["action"]
    if action not in ("cancel", "hold", "unhold"):
        raise HTTPException(404)
    order = _possible(visit, action)
    with visit.world.write():
        now = _set_status(visit.world, order, action)
    return _back(visit, order, f"Order # {order['number']} is now {now}.")


async def comment(visit: OfficeVisit) -> Response:
    order = _order(visit)
    form = await visit.form()
    text = form.text("comment", "Comment", most=LONGEST_COMMENT, lines=True)
    notified = form.ticked("notified")
    if form.errors:
        return _render(visit, order, 422, "comment", errors=form.errors, values=form.values)
    with visit.world.write() as db:
        db.execute(
            "INSERT INTO order_comments (order_id, admin_id, status, comment, notified, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (order["id"], visit.user_id, order["status"], text, int(notified), stamp(visit.world.now())),
        )
    told = " The customer was notified." if notified else ""
    return _back(visit, order, f"The comment was added.{told}")


async def invoice(visit: OfficeVisit) -> Response:
    order = _possible(visit, "invoice")
    with visit.world.write() as db:
        number: int = visit.world.scalar("SELECT ifnull(max(id), 0) + 1 FROM invoices")
        db.execute(
            "INSERT INTO invoices VALUES (?, ?, ?, 'open', ?)",
            (number, str(FIRST_INVOICE + number), order["id"], stamp(visit.world.now())),
        )
        _progress(visit.world, order["id"])
    return _back(visit, order, f"Invoice {FIRST_INVOICE + number} was created.")


async def ship(visit: OfficeVisit) -> Response:
    """Asks for the carrier and the tracking number, which may follow later."""
    order = _possible(visit, "ship")
    if visit.request.method == "GET":
        return visit.render("order_ship.html", order=order, carriers=CARRIERS, errors={}, values={})
    form = await visit.form()
    carrier = form.choice("carrier", "carrier", CARRIERS)
    tracking = form.text("tracking", "Tracking number", most=40, needed=False)
    if form.errors:
        return visit.render(
            "order_ship.html", 422, order=order, carriers=CARRIERS, errors=form.errors, values=form.values
        )
    with visit.world.write() as db:
        number: int = visit.world.scalar("SELECT ifnull(max(id), 0) + 1 FROM shipments")
        db.execute(
            "INSERT INTO shipments VALUES (?, ?, ?, ?, ?, ?)",
            (number, str(FIRST_SHIPMENT + number), order["id"], carrier, tracking, stamp(visit.world.now())),
        )
        _progress(visit.world, order["id"])
    return _back(visit, order, f"Shipment {FIRST_SHIPMENT + number} was created.")


def _progress(world: World, order_id: int) -> None:
    """With an invoice and a shipment an order is complete; with one of them it is being processed."""
    both = world.scalar(
        "SELECT 1 FROM invoices AS i JOIN shipments AS s ON s.order_id = i.order_id WHERE i.order_id = ?", order_id
    )
    status = "complete" if both else "processing"
    world.db.execute("UPDATE orders SET status = ? WHERE id = ?", (status, order_id))


async def refund(visit: OfficeVisit) -> Response:
    order = _possible(visit, "refund")
    most = left_to_refund(visit.world, order)
    if visit.request.method == "GET":
        return visit.render("order_refund.html", order=order, most=most, reasons=REFUND_REASONS, errors={}, values={})
    form = await visit.form()
    amount = form.cents("amount", "The refund", 1, most)
    reason = form.choice("reason", "reason", REFUND_REASONS)
    if form.errors:
        return visit.render(
            "order_refund.html", 422, order=order, most=most, reasons=REFUND_REASONS, errors=form.errors,
            values=form.values,
        )  # fmt: skip
    with visit.world.write() as db:
        number: int = visit.world.scalar("SELECT ifnull(max(id), 0) + 1 FROM refunds")
        db.execute(
            "INSERT INTO refunds VALUES (?, ?, ?, ?, ?, ?)",
            (number, str(FIRST_REFUND + number), order["id"], amount, reason, stamp(visit.world.now())),
        )
        if amount == most:
            db.execute("UPDATE orders SET status = 'closed' WHERE id = ?", (order["id"],))
    return _back(visit, order, f"{money(amount)} was refunded with credit memo {FIRST_REFUND + number}.")


async def address(visit: OfficeVisit) -> Response:
    order = _possible(visit, "address")
    kind = visit.request.path_params["kind"]
    found = visit.one(
        "SELECT * FROM order_addresses WHERE order_id = ? AND kind = ?", order["id"], kind, what="address"
    )
    if visit.request.method == "GET":
        return visit.render("order_address.html", order=order, kind=kind, errors={}, values=found)
    form = await visit.form()
    fields = read_address(form)
    if form.errors:
        return visit.render("order_address.html", 422, order=order, kind=kind, errors=form.errors, values=form.values)
    with visit.world.write() as db:
        db.execute(
            f"UPDATE order_addresses SET {', '.join(f'{name} = ?' for name in ADDRESS_FIELDS)}"
            " WHERE order_id = ? AND kind = ?",
            (*(fields[name] for name in ADDRESS_FIELDS), order["id"], kind),
        )
    return _back(visit, order, f"The {kind} address was saved.")


# --- several at once --------------------------------------------------------------------------------------


async def bulk(visit: OfficeVisit) -> Response:
    form = await visit.form()
    action = form.get("action")
    back = safe_path(form.get("back"), "/orders")
    numbers = picked(form)
    if action not in ("cancel", "hold", "unhold"):
        return visit.go(back, "Please choose an action.")
    if not numbers:
        return visit.go(back, "Please select some orders.")
    done, problems = 0, []
    with visit.world.write():
        for number in numbers:
            order = visit.world.row("SELECT * FROM orders WHERE id = ?", number)
            problem = "An order no longer exists." if order is None else refusal(visit.world, order, action)
            if order is None or problem:
                problems.append(problem)
            else:
                _set_status(visit.world, order, action)
                done += 1
    verb = {"cancel": "canceled", "hold": "put on hold", "unhold": "released from hold"}[action]
    said = f"{done} {'order was' if done == 1 else 'orders were'} {verb}."
    return visit.go(back, " ".join([said, *problems[:5]]))


async def mark_paid(visit: OfficeVisit) -> Response:
    """Invoices, in bulk."""
    form = await visit.form()
    back = safe_path(form.get("back"), "/invoices")
    numbers = picked(form)
    if form.get("action") != "paid" or not numbers:
        return visit.go(back, "Please choose an action and select some invoices.")
    changed = 0
    with visit.world.write() as db:
        for number in numbers:
            db.execute("UPDATE invoices SET status = 'paid' WHERE id = ? AND status = 'open'", (number,))
            changed += db.changes()
    return visit.go(back, f"{changed} {'invoice was' if changed == 1 else 'invoices were'} marked as paid.")


# --- papers -----------------------------------------------------------------------------------------------


async def show_invoice(visit: OfficeVisit) -> Response:
    return _paper(visit, visit.one("SELECT * FROM invoices WHERE id = ?", visit.number(), what="invoice"), "Invoice")


async def shipment(visit: OfficeVisit) -> Response:
    """Its carrier and tracking number can be changed, or added later."""
    found = visit.one("SELECT * FROM shipments WHERE id = ?", visit.number(), what="shipment")
    if visit.request.method == "GET":
        return _paper(visit, found, "Shipment")
    form = await visit.form()
    carrier = form.choice("carrier", "carrier", CARRIERS)
    tracking = form.text("tracking", "Tracking number", most=40)
    if form.errors:
        return _paper(visit, found, "Shipment", 422, form)
    with visit.world.write() as db:
        db.execute("UPDATE shipments SET carrier = ?, tracking = ? WHERE id = ?", (carrier, tracking, found["id"]))
    return visit.go(f"/shipments/{found['id']}", "The tracking information was saved.")


def _paper(visit: OfficeVisit, paper: Row, title: str, status: int = 200, form: FormFields | None = None) -> Response:
    order = visit.one("SELECT * FROM orders WHERE id = ?", paper["order_id"], what="order")
    return visit.render(
        "paper.html", status, paper=paper, order=order, title=title, statuses=ORDER_STATUSES,
        carriers={name: name for name in CARRIERS}, may=visit.may_change("orders"),
        values=form.values if form else paper, errors=form.errors if form else {},
        items=visit.world.rows("SELECT * FROM order_items WHERE order_id = ? ORDER BY id", order["id"]),
    )  # fmt: skip
