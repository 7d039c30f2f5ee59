"""The pages, and which address leads to which."""

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp

from webassay.sites.home.calculator import UnreadableExpression, calculate
from webassay.sites.kit import Row, World
from webassay.sites.web.app import Visit, WebSite, page, route
from webassay.sites.web.dates import stamp
from webassay.sites.web.forms import FormFields, whole_number
from webassay.sites.web.lists import Paging
from webassay.sites.web.sessions import Sessions

LONGEST_NOTE = 4000
LONGEST_EXPRESSION = 200
NOTES_PER_PAGE = 20

WEB = WebSite(
    package="webassay.sites.home",
    name="Doorstep",
    sessions=Sessions("doorstep_session"),
    names={"longest_note": LONGEST_NOTE, "longest_expression": LONGEST_EXPRESSION},
)


def make_app(world: World) -> ASGIApp:
    return WEB.app(world, _ROUTES)


async def calculator(visit: Visit) -> Response:
    """The expression is in the URL, so that a result can be linked to, and going back shows the one before."""
    query = visit.request.query_params
    if "expression" not in query:
        return visit.render("calculator.html", values={}, errors={}, result="")
    fields = FormFields(query)
    expression = fields.text("expression", "Expression", most=LONGEST_EXPRESSION)
    result = ""
    if not fields.errors:
        try:
            result = calculate(expression)
        except UnreadableExpression as problem:
            fields.errors["expression"] = str(problem)
    status = 422 if fields.errors else 200
    return visit.render("calculator.html", status, values=fields.values, errors=fields.errors, result=result)


async def scratchpad(visit: Visit) -> Response:
    return _scratchpad(visit, FormFields({}), 200)


def _scratchpad(visit: Visit, form: FormFields, status: int) -> Response:
    total: int = visit.world.scalar("SELECT count(*) FROM notes")
    paging = Paging.at(visit.request.query_params.get("p", "1"), NOTES_PER_PAGE, total)
    notes = visit.world.rows("SELECT * FROM notes ORDER BY id DESC LIMIT ? OFFSET ?", paging.size, paging.skipped)
    return visit.render("scratchpad.html", status, notes=notes, paging=paging, values=form.values, errors=form.errors)


async def add_note(visit: Visit) -> Response:
    form = await visit.form()
    text = form.text("text", "Note", most=LONGEST_NOTE, lines=True)
    if form.errors:
        return _scratchpad(visit, form, 422)
    with visit.world.write() as db:
        db.execute("INSERT INTO notes (text, saved_at) VALUES (?, ?)", (text, stamp(visit.world.now())))
    return visit.go("/scratchpad", "Your note was saved.")


async def edit_note(visit: Visit) -> Response:
    note = _note(visit)
    if visit.request.method == "GET":
        return visit.render("note.html", note=note, values=note, errors={})
    form = await visit.form()
    text = form.text("text", "Note", most=LONGEST_NOTE, lines=True)
    if form.errors:
        return visit.render("note.html", 422, note=note, values=form.values, errors=form.errors)
    with visit.world.write() as db:
        saved = stamp(visit.world.now())
        db.execute("UPDATE notes SET text = ?, saved_at = ? WHERE id = ?", (text, saved, note["id"]))
    return visit.go("/scratchpad", "Your note was saved.")


async def delete_note(visit: Visit) -> Response:
    note = _note(visit)
    with visit.world.write() as db:
        db.execute("DELETE FROM notes WHERE id = ?", (note["id"],))
    return visit.go("/scratchpad", "The note was deleted.")


def _note(visit: Visit) -> Row:
    found = visit.world.row("SELECT * FROM notes WHERE id = ?", whole_number(visit.request.path_params["id"]))
    if found is None:
        raise HTTPException(404, "There is no such note.")
    return found


_ROUTES = (
    page("/", "start.html"),
    page("/accounts", "accounts.html"),
    route("/calculator", calculator),
    route("/scratchpad", scratchpad),
    route("/scratchpad", add_note, "POST"),
    route("/scratchpad/{id}/edit", edit_note, "GET", "POST"),
    route("/scratchpad/{id}/delete", delete_note, "POST"),
)
