"""Tallybrook's back office, on the shop's own database."""

from dataclasses import replace

from webassay.sites.admin.app import make_app
from webassay.sites.admin.web import WEB, OfficeVisit
from webassay.sites.shop import SITE as SHOP
from webassay.sites.shop.seeding.office import PASSWORD

SITE = replace(
    SHOP,
    name="admin",
    title=WEB.name,
    summary="Tallybrook's back office, on the shop's database: orders, products, customers, reviews, reports, pages.",
    package=__name__,
    shares=SHOP,
    make_app=make_app,
    log_in=WEB.sessions.log_in,
    whoami=WEB.sessions.whoami,
    log_in_path=OfficeVisit.log_in_path,
    credentials=lambda user: {"User Name": user, "Password": PASSWORD},
    some_users="SELECT username, lower(role) FROM admins ORDER BY id",
)
