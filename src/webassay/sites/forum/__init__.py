"""Porchlight, a forum of forums."""

from webassay.sites.forum.app import make_app
from webassay.sites.forum.schema import COLUMNS, SCHEMA
from webassay.sites.forum.seeding import seed
from webassay.sites.forum.seeding.people import PASSWORD, REGULARS
from webassay.sites.forum.seeding.scale import SCALES
from webassay.sites.forum.web import WEB
from webassay.sites.kit import Site

SITE = Site(
    name="forum",
    title=WEB.name,
    summary="Porchlight, a place to talk: forums, links, pictures, comments, votes, moderation.",
    package=__name__,
    schema=SCHEMA,
    columns=COLUMNS,
    seed=seed,
    scales=tuple(SCALES),
    make_app=make_app,
    log_in=WEB.sessions.log_in,
    whoami=WEB.sessions.whoami,
    credentials=lambda user: {"Username": user, "Password": PASSWORD},
    some_users=(
        "SELECT u.name, CASE WHEN u.role = 'admin' THEN 'administrator'"
        " WHEN EXISTS (SELECT 1 FROM moderators AS m WHERE m.user_id = u.id) THEN 'moderator' ELSE u.role END"
        f" FROM users AS u WHERE u.id <= {len(REGULARS)} ORDER BY u.id"
    ),
    start_time=1772355600,  # 2026-03-01 09:00:00 UTC
)
