"""The customer's own account."""

from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, cell
from webassay.arena.kit.template import Mutate, Parts
from webassay.arena.kit.walking import groups, links, submit
from webassay.arena.shop import queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import World
from webassay.sites.rng import Stream

_STREETS = (
    "Larkspur Lane", "Old Quarry Road", "Weir Street", "Juniper Court", "Harbor View Drive", "Millstone Avenue",
    "Foxglove Terrace", "Station Street", "Cedar Hollow Road", "Fairmount Place", "Bellweather Way", "Tanner Street",
)  # fmt: skip


class ChangeAddress(Mutate):
    """Change street and ZIP code of the default shipping address, which is neither the first nor the billing one."""

    name = "shop.change-address"
    chore = "others"
    instruction = (
        'I moved within {city}. Edit my default shipping address: change the street to "{street}" and the ZIP code '
        'to "{postcode}". Leave the rest of it as it is. Do not add an address, and do not change which address is '
        "the default."
    )
    levels = ("easy",)
    misread = {"first-address": {"default": ""}, "billing-address": {"default": "billing"}}
    ways = {"from-account": {"from_account": True}}

    user: str
    city: str
    street: str
    postcode: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        customers = queries.rows(
            world,
            "SELECT c.email, a.city, a.postcode FROM customers AS c JOIN addresses AS a ON a.customer_id = c.id"
            " WHERE a.is_default_shipping AND a.street2 = '' ORDER BY c.id",
        )
        customer = stream.choice(customers)
        return cls(
            user=customer["email"],
            city=customer["city"],
            street=f"{stream.between(11, 989)} {stream.choice(_STREETS)}",
            # The first three digits are those of the city.
            postcode=f"{customer['postcode'][:3]}{stream.between(1, 99):02d}",
        )

    def end(self, world: World, *, default: str = "shipping") -> Parts:
        book = queries.address_book(world, self.user)
        address = next(one for one in book if not default or one[f"is_default_{default}"])
        # A new ZIP code that happens to be the old one would not be a change.
        moved = {"postcode": self.postcode} if address["postcode"] != self.postcode else {}
        yield Key.update("addresses", where={"id": address["id"]}, street=self.street, **moved)
        yield Key.read(cell("addresses", address["id"], "street"))
        yield Key.checkpoint("address book", PagePattern(site="shop", path="/account(/addresses)?"))
        yield Effort(rows=len(book), pages=2, steps=9)

    def solve(self, page: Observation, *, default: str = "shipping", from_account: bool = False) -> Walk:
        page = yield from links(page, "My Account")
        if from_account:
            page = yield from links(page, "Edit default shipping address")
        else:
            page = yield from links(page, "Address Book")
            tag = f"Default {default.title()} Address"
            edit = next(
                node
                for box in groups(page, "region")
                if not default or any(node.name == tag for node in box)
                for node in box
                if node.role == "link" and node.name.startswith("Edit")
            )
            page = yield Action.of("click", edit.id)
        return (yield from submit(page, "Save Address", {"Street Address": self.street, "ZIP Code": self.postcode}))
