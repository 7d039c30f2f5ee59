"""The customer's own account."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import click, fill, groups, submit
from webassay.arena.shop import queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

_STREETS = (
    "Larkspur Lane", "Old Quarry Road", "Weir Street", "Juniper Court", "Harbor View Drive", "Millstone Avenue",
    "Foxglove Terrace", "Station Street", "Cedar Hollow Road", "Fairmount Place", "Bellweather Way", "Tanner Street",
)  # fmt: skip


@dataclass(frozen=True)
class ChangeAddress(Template):
    """Change street and ZIP code of the default shipping address, which is neither the first nor the billing one."""

    name = "shop.change-address"
    kind = "mutate"
    chore = "others"
    instruction = (
        "I have moved within {city}. Edit the address in my address book that is my default shipping address: change "
        'its street to "{street}" and its ZIP code to "{postcode}", and leave the rest as it is. Do not add a new '
        "address, and do not change which address is the default."
    )
    levels = ("easy",)

    user: str
    city: str
    street: str
    postcode: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        customers = queries.rows(
            worlds["shop"],
            "SELECT c.email, a.city, a.postcode FROM customers AS c JOIN addresses AS a ON a.customer_id = c.id"
            " WHERE a.is_default_shipping AND a.street2 = '' ORDER BY c.id",
        )
        found = queries.pick(stream, customers)
        if found is None:
            return None
        return cls(
            user=found["email"],
            city=found["city"],
            street=f"{stream.between(11, 989)} {stream.choice(_STREETS)}",
            # The first three digits are those of the city.
            postcode=f"{found['postcode'][:3]}{stream.between(1, 99):02d}",
        )

    def _book(self, world: World) -> list[Row]:
        customer = queries.customer_id(world, self.user)
        return queries.rows(world, "SELECT * FROM addresses WHERE customer_id = ? ORDER BY id", customer)

    def key(self, worlds: Worlds) -> Key:
        shipping = next(address for address in self._book(worlds["shop"]) if address["is_default_shipping"])
        book = PagePattern(site="shop", path="/account(/addresses)?")
        found = Key.seen("Default Shipping Address", shipping["street"], together="page")
        return self._moved(shipping) & found & Key.checkpoint("address book", book)

    def _moved(self, address: Row) -> Key:
        # A new ZIP code that happens to be the old one would not be a change.
        changed = {"street": self.street} | (
            {"postcode": self.postcode} if address["postcode"] != self.postcode else {}
        )
        return Key.update("addresses", where={"id": address["id"]}, **changed)

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        book = self._book(worlds["shop"])
        return {
            "first-address": self._moved(book[0]),
            "billing-address": self._moved(next(address for address in book if address["is_default_billing"])),
        }

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=len(self._book(worlds["shop"])), pages=2, steps=9)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "My Account")
        page = yield from click(page, "link", "Address Book")
        return (yield from self._edit(page, "Default Shipping Address"))

    def routes(self) -> Mapping[str, Route]:
        return {"from-account": self._from_account}

    def _from_account(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "My Account")
        return (yield from self._fill_in((yield from click(page, "link", "Edit default shipping address"))))

    def hasty(self) -> Mapping[str, Route]:
        return {"first-address": self._first, "billing-address": self._billing}

    def _first(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "My Account")
        page = yield from click(page, "link", "Address Book")
        return (yield from self._fill_in((yield from click(page, "link", contains="Edit address"))))

    def _billing(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "My Account")
        page = yield from click(page, "link", "Address Book")
        return (yield from self._edit(page, "Default Billing Address"))

    def _edit(self, page: Observation, tag: str) -> Walk:
        box = next(inside for inside in groups(page, "region") if any(node.name == tag for node in inside))
        edit = next(node for node in box if node.role == "link" and node.name.startswith("Edit"))
        return (yield from self._fill_in((yield Action.of("click", edit.id))))

    def _fill_in(self, page: Observation) -> Walk:
        page = yield from fill(page, "textbox", "Street Address", self.street)
        page = yield from fill(page, "textbox", "ZIP Code", self.postcode)
        return (yield from submit(page, "Save Address"))
