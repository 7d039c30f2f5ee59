"""A site: Corkboard, where neighbors pin notices. Its schema, its data, its pages; the rest comes with the kit."""

import apsw
from starlette.responses import Response
from starlette.types import ASGIApp

from webassay.sites.kit import Site, World, classes
from webassay.sites.rng import Stream
from webassay.sites.web.app import Visit, WebSite, route
from webassay.sites.web.dates import stamp
from webassay.sites.web.sessions import SESSION_COLUMNS, SESSIONS, Sessions

SCHEMA = """
CREATE TABLE notices (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    contact TEXT NOT NULL,
    pinned_at TEXT NOT NULL
) STRICT;
"""
THINGS = ("Armchair", "Bicycle", "Bookcase", "Garden Bench", "Piano", "Sled", "Tent", "Typewriter", "Wheelbarrow")
PEOPLE = ("Ines", "Tomas", "Oluchi", "Pavel", "Ruth")


def seed(db: apsw.Connection, number: int) -> None:
    stream = Stream(number, "board")
    for day, thing in enumerate(stream.sample(THINGS, 6), start=1):
        notice = (f"{thing} to give away", stream.choice(PEOPLE), f"2026-02-{day:02} 10:00:00")
        db.execute("INSERT INTO notices (title, contact, pinned_at) VALUES (?, ?, ?)", notice)


async def notices(visit: Visit) -> Response:
    form = await visit.form()
    if visit.request.method == "POST":
        title, contact = form.text("title", "Notice"), form.text("contact", "Contact", most=40)
        if not form.errors:
            with visit.world.write() as db:
                row = (title, contact, stamp(visit.world.now()))
                db.execute("INSERT INTO notices (title, contact, pinned_at) VALUES (?, ?, ?)", row)
            return visit.go("/", "Your notice is on the board.")
    rows = visit.world.rows("SELECT * FROM notices ORDER BY id DESC")
    status = 422 if form.errors else 200
    return visit.render("notices.html", status, notices=rows, errors=form.errors, values=form.values)


WEB = WebSite("webassay_example.board", name="Corkboard", sessions=Sessions("corkboard_session"))


def make_app(world: World) -> ASGIApp:
    return WEB.app(world, [route("/", notices, "GET", "POST")])


SITE = Site(
    name="board",
    title=WEB.name,
    summary="Corkboard, where neighbors pin notices.",
    package=__name__,
    schema=SCHEMA + SESSIONS,
    columns={
        "notices": classes(journal="id pinned_at", content="title contact"),
        "sessions": classes(telemetry=SESSION_COLUMNS),
    },
    seed=seed,
    make_app=make_app,
    start_time=1772355600,  # 2026-03-01 09:00:00 UTC
)
