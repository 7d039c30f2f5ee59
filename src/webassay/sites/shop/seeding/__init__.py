"""All rows of a fresh shop, from one integer."""

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.catalogue import fill_catalogue
from webassay.sites.shop.seeding.customers import fill_customers
from webassay.sites.shop.seeding.orders import fill_orders
from webassay.sites.shop.seeding.reviews import fill_reviews


def seed(db: apsw.Connection, number: int) -> None:
    stream = Stream(number, "shop")
    products = fill_catalogue(db, stream.child("catalogue"))
    customers = fill_customers(db, stream.child("customers"), products)
    bought = fill_orders(db, stream.child("orders"), products, customers)
    fill_reviews(db, stream.child("reviews"), products, bought)
