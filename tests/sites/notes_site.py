"""The smallest site that has everything that can go wrong with a copy: a notes application."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping

import apsw
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from webassay.sites.kit import Site, World
from webassay.sites.rng import Stream

SCHEMA = """
CREATE TABLE note (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  author TEXT NOT NULL COLLATE NOCASE,
  body TEXT,
  weight REAL,
  photo BLOB,
  loose,
  shout TEXT GENERATED ALWAYS AS (upper(body)) STORED,
  length INTEGER GENERATED ALWAYS AS (length(body)) VIRTUAL
);
CREATE TABLE tag (
  name TEXT COLLATE NOCASE,
  "group" TEXT,
  note INTEGER REFERENCES note (id) ON DELETE CASCADE,
  PRIMARY KEY (name, "group")
) WITHOUT ROWID;
CREATE TABLE setting (name TEXT NOT NULL PRIMARY KEY, value) STRICT;
CREATE TABLE session (token TEXT NOT NULL PRIMARY KEY, user TEXT NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE audit (id INTEGER PRIMARY KEY, what TEXT NOT NULL);
CREATE VIRTUAL TABLE note_search USING fts5(body, content='note', content_rowid='id');
CREATE TRIGGER note_added AFTER INSERT ON note BEGIN
  INSERT INTO note_search (rowid, body) VALUES (new.id, new.body);
  INSERT INTO audit (what) VALUES ('added ' || new.id);
END;
CREATE TRIGGER note_gone AFTER DELETE ON note BEGIN
  INSERT INTO note_search (note_search, rowid, body) VALUES ('delete', old.id, old.body);
  INSERT INTO audit (what) VALUES ('gone ' || old.id);
END;
CREATE TRIGGER note_changed AFTER UPDATE ON note BEGIN
  INSERT INTO note_search (note_search, rowid, body) VALUES ('delete', old.id, old.body);
  INSERT INTO note_search (rowid, body) VALUES (new.id, new.body);
END;
CREATE INDEX note_author ON note (author);
CREATE VIEW loud AS SELECT shout FROM note;
""".replace("value) STRICT", "value ANY) STRICT")


def seed(db: apsw.Connection, number: int) -> None:
    stream = Stream(number, "notes")
    for place in range(1, 41):
        words = " ".join(stream.choice(("milk", "bread", "tax", "letter", "Ärger", "piano")) for _ in range(4))
        author = stream.choice(("ann", "Bob", "cleo"))
        photo = bytes(stream.below(256) for _ in range(8)) if place % 5 == 0 else None
        db.execute(
            "INSERT INTO note (author, body, weight, photo, loose) VALUES (?, ?, ?, ?, ?)",
            (author, words, place / 4, photo, place if place % 2 else str(place)),
        )
    db.execute("DELETE FROM note WHERE id = 40")  # The counter stays ahead of the rows.
    for place in range(1, 11):
        db.execute(
            'INSERT INTO tag (name, "group", note) VALUES (?, ?, ?)', (f"Tag{place}", "a" if place % 2 else "b", place)
        )
    db.execute("INSERT INTO setting VALUES ('theme', 'light'), ('limit', 3)")


def make_app(world: World) -> Starlette:
    visits = 0  # What an application remembers by itself must not outlive an episode either.

    async def home(request: Request) -> Response:
        nonlocal visits
        visits += 1
        notes = world.rows("SELECT id, author, body FROM note ORDER BY id DESC LIMIT 3")
        user = whoami(world, request.cookies)
        return JSONResponse({"notes": notes, "user": user, "visits": visits, "now": world.now()})

    async def add(request: Request) -> Response:
        form = await request.form()
        with world.write() as db:
            db.execute("INSERT INTO note (author, body) VALUES (?, ?)", ("ann", str(form["body"])))
        return RedirectResponse("/", status_code=303)

    def add_in_thread(request: Request) -> Response:
        with world.write() as db:
            db.execute("INSERT INTO note (author, body) VALUES ('ann', 'threaded')")
        return PlainTextResponse("added")

    async def crash(request: Request) -> Response:
        with world.write() as db:
            db.execute("DELETE FROM note")
            raise RuntimeError("the site is broken")

    async def careless(request: Request) -> Response:
        world.db.execute("DELETE FROM note")
        return PlainTextResponse("deleted")

    async def slow_add(request: Request) -> Response:
        await asyncio.sleep(0.3)
        with world.write() as db:
            db.execute("INSERT INTO note (author, body) VALUES ('ann', 'late')")
        return PlainTextResponse("added")

    async def stream(request: Request) -> Response:
        async def parts() -> AsyncIterator[str]:
            for number in range(3):
                await asyncio.sleep(0)
                yield f"part {number} "

        return StreamingResponse(parts())

    async def spin(request: Request) -> Response:
        while True:
            pass

    async def echo(request: Request) -> Response:
        return PlainTextResponse(await request.body())

    async def page(request: Request) -> Response:
        return HTMLResponse("<!doctype html><title>Notes</title><body><h1>Notes</h1></body>")

    return Starlette(
        routes=[
            Route("/", home),
            Route("/page", page),
            Route("/add", add, methods=["POST"]),
            Route("/add-in-thread", add_in_thread, methods=["POST"]),
            Route("/crash", crash),
            Route("/slow-add", slow_add, methods=["POST"]),
            Route("/stream", stream),
            Route("/spin", spin),
            Route("/careless", careless),
            Route("/echo", echo, methods=["POST"]),
        ]
    )


def log_in(world: World, user: str) -> dict[str, str]:
    token = secrets.token_hex(8)
    with world.write() as db:
        db.execute("INSERT INTO session VALUES (?, ?, ?)", (token, user, world.now()))
    return {"session": token}


def whoami(world: World, cookies: Mapping[str, str]) -> str:
    return world.scalar("SELECT user FROM session WHERE token = ?", cookies.get("session", "")) or ""


SITE = Site(
    name="notes",
    schema=SCHEMA,
    columns={
        "note": {
            "id": "journal",
            "author": "content",
            "body": "content",
            "weight": "content",
            "photo": "content",
            "loose": "content",
        },
        "tag": {"name": "content", "group": "content", "note": "content"},
        "setting": {"name": "content", "value": "content"},
        "session": {"token": "telemetry", "user": "telemetry", "created_at": "telemetry"},
        "audit": {"id": "telemetry", "what": "telemetry"},
    },
    seed=seed,
    make_app=make_app,
    log_in=log_in,
    whoami=whoami,
    start_time=1_767_225_600,
)
