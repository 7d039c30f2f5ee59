"""A site that nobody lists anywhere: a depot, where parcels lie on shelves and visitors leave notes."""

import apsw
from starlette.responses import Response
from starlette.types import ASGIApp

from webassay.sites.kit import Site, World, classes
from webassay.sites.rng import Stream
from webassay.sites.web.app import Visit, WebSite, route
from webassay.sites.web.sessions import Sessions

SCHEMA = """
CREATE TABLE members (id INTEGER PRIMARY KEY, email TEXT NOT NULL) STRICT;
CREATE TABLE parcels (id INTEGER PRIMARY KEY, code TEXT NOT NULL, shelf TEXT NOT NULL) STRICT;
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE sessions (
    token TEXT NOT NULL PRIMARY KEY,
    member_id INTEGER REFERENCES members, notice TEXT NOT NULL, created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""


def seed(db: apsw.Connection, number: int) -> None:
    stream = Stream(number, "depot")
    db.execute("INSERT INTO members (email) VALUES ('mira@example.org')")
    for shelf, count in zip(("Amber", "Birch", "Cedar"), stream.sample((4, 5, 6, 7, 8), 3), strict=True):
        for place in range(count):
            db.execute("INSERT INTO parcels (code, shelf) VALUES (?, ?)", (f"{shelf[0]}-{number}-{place}", shelf))


async def home(visit: Visit) -> Response:
    form = await visit.form()
    if visit.request.method == "POST":
        with visit.world.write() as db:
            db.execute("INSERT INTO notes (text) VALUES (?)", (form.text("text", "Note"),))
        return visit.go("/", "Thank you.")
    return visit.render("home.html")


async def parcels(visit: Visit) -> Response:
    return visit.render("parcels.html", parcels=visit.world.rows("SELECT * FROM parcels ORDER BY code"))


async def enter(visit: Visit) -> Response:
    return visit.render("enter.html")


WEB = WebSite(__name__, name="Depot", sessions=Sessions("depot_session", users="members", user_id="member_id"))


def make_app(world: World) -> ASGIApp:
    own = (route("/", home, "GET", "POST"), route("/parcels", parcels), route("/account/login", enter))
    return WEB.app(world, own)


SITE = Site(
    name="depot",
    title=WEB.name,
    summary="Depot, where parcels wait for their people.",
    package=__name__,
    schema=SCHEMA,
    columns={
        "members": classes(content="id email"),
        "parcels": classes(content="id code shelf"),
        "notes": classes(journal="id", content="text"),
        "sessions": classes(telemetry="token member_id notice created_at"),
    },
    seed=seed,
    make_app=make_app,
    log_in=WEB.sessions.log_in,
    whoami=WEB.sessions.whoami,
    start_time=1772355600,
)
