"""The customer's own account."""

from dataclasses import dataclass
from typing import Self

from webassay.benchmarks.arena.key import Key
from webassay.benchmarks.arena.shop import queries
from webassay.benchmarks.arena.template import Template, Worlds
from webassay.benchmarks.arena.walking import click, done, fill, groups
from webassay.core.interaction import Action, Observation, Walk
from webassay.sites.rng import Stream

_STREETS = (
    "Larkspur Lane", "Old Quarry Road", "Weir Street", "Juniper Court", "Harbor View Drive", "Millstone Avenue",
    "Foxglove Terrace", "Station Street", "Cedar Hollow Road", "Fairmount Place", "Bellweather Way", "Tanner Street",
)  # fmt: skip


@dataclass(frozen=True)
class ChangeAddress(Template):
    """Change street and ZIP code of the default shipping address."""

    name = "shop.change-address"
    sites = ("shop",)
    kind = "mutate"
    chore = "others"
    instruction = (
        'I have moved within the city. In my default shipping address, change the street to "{street}" and '
        'the ZIP code to "{postcode}", and leave the rest as it is.'
    )
    difficulty = "easy"

    user: str
    street: str
    postcode: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        return cls(
            user=queries.shopper(worlds["shop"], stream, orders=4),
            street=f"{stream.between(11, 989)} {stream.choice(_STREETS)}",
            postcode=str(stream.between(10_001, 98_999)),
        )

    def key(self, worlds: Worlds) -> Key:
        customer = queries.customer_id(worlds["shop"], self.user)
        address = worlds["shop"].scalar(
            "SELECT id FROM addresses WHERE customer_id = ? AND is_default_shipping", customer
        )
        return Key.update("addresses", where={"id": address}, street=self.street, postcode=self.postcode)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "My Account")
        page = yield from click(page, "link", "Address Book")
        shipping = next(
            inside
            for inside in groups(page, "region")
            if any(node.name == "Default Shipping Address" for node in inside)
        )
        edit = next(node for node in shipping if node.role == "link" and node.name.startswith("Edit"))
        page = yield Action.of("click", edit.id)
        page = yield from fill(page, "textbox", "Street Address", self.street)
        page = yield from fill(page, "textbox", "ZIP Code", self.postcode)
        yield from click(page, "button", "Save Address")
        return done("mutate")
