"""Tallybrook, a shop for nearly everything."""

from webassay.sites.kit import Site
from webassay.sites.shop.app import make_app
from webassay.sites.shop.events import sold_out
from webassay.sites.shop.schema import COLUMNS, NOTICED, OWN, SCHEMA
from webassay.sites.shop.seeding import seed
from webassay.sites.shop.seeding.customers import PASSWORD
from webassay.sites.shop.seeding.scale import SCALES
from webassay.sites.shop.web import WEB

SITE = Site(
    name="shop",
    title=WEB.name,
    summary="Tallybrook, a shop for nearly everything: catalogue, search, reviews, cart, orders, account.",
    package=__name__,
    schema=SCHEMA,
    columns=COLUMNS,
    seed=seed,
    scales=tuple(SCALES),
    make_app=make_app,
    log_in=WEB.sessions.log_in,
    whoami=WEB.sessions.whoami,
    credentials=lambda user: {"Email": user, "Password": PASSWORD},
    some_users="SELECT email, 'customer' FROM customers ORDER BY id LIMIT 3",
    start_time=1772355600,  # 2026-03-01 09:00:00 UTC
    events={"sold-out": sold_out},
    noticed=NOTICED,
    own=OWN,
)
