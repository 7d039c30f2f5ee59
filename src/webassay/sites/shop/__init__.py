"""Tallybrook, a shop for nearly everything."""

from webassay.sites.kit import Site
from webassay.sites.shop.app import log_in, make_app, whoami
from webassay.sites.shop.schema import COLUMNS, SCHEMA
from webassay.sites.shop.seeding import seed

SITE = Site(
    name="shop",
    schema=SCHEMA,
    columns=COLUMNS,
    seed=seed,
    make_app=make_app,
    log_in=log_in,
    whoami=whoami,
    start_time=1772355600,  # 2026-03-01 09:00:00 UTC
    summary="Tallybrook, a shop for nearly everything: catalogue, search, reviews, cart, orders, account.",
)
