"""Doorstep, the page a session starts from: the other sites, the visitor's accounts, a calculator and a scratchpad."""

import apsw

from webassay.sites.home.pages import WEB, make_app
from webassay.sites.kit import Site, classes
from webassay.sites.web.sessions import SESSION_COLUMNS, SESSIONS

SCHEMA = """
CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    saved_at TEXT NOT NULL
) STRICT;
"""


def seed(db: apsw.Connection, number: int) -> None:
    """The scratchpad is blank, whatever the seed."""


SITE = Site(
    name="home",
    title=WEB.name,
    summary="Doorstep, a start page: the other sites, your accounts, a calculator, a scratchpad.",
    package=__name__,
    schema=SCHEMA + SESSIONS,
    # Notes are a visitor's own memory. They are telemetry, so that taking some is never a change that counts.
    columns={"notes": classes(telemetry="id text saved_at"), "sessions": classes(telemetry=SESSION_COLUMNS)},
    seed=seed,
    make_app=make_app,
    start_time=1772355600,  # 2026-03-01 09:00:00 UTC
)
