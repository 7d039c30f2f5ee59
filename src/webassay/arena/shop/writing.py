"""Writing to the shop, and signing up with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import Shortcuts
from webassay.arena.kit.template import Route, Template, Worlds
from webassay.arena.kit.walking import Steps, click, fill, refusal, submit
from webassay.arena.shop import facts, pages, queries
from webassay.arena.shop.orders import LIST, list_page
from webassay.core.errors import AgentError
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

_MESSAGES = (
    "The parcel arrived, but one of the boxes inside was open. What should I do?",
    "Could you send me a copy of the invoice? I need it for my records.",
    "I would like to know from which warehouse this was sent.",
    "Please tell me whether the articles of this order are still made in the same way.",
    "The tracking page has not changed for a week. Is the parcel lost?",
    "I think that I was charged twice for shipping. Please check.",
)


def _total(order: Row) -> int:
    return int(order["total_cents"])


@dataclass(frozen=True)
class AskAboutOrder(Template):
    """Write to the shop about the largest order of a month."""

    name = "shop.ask-about-order"
    kind = "mutate"
    chore = "long_term_memory"
    instruction = (
        "Write to the shop with its contact form about the order of {month} that came to the most: give the number of "
        "that order, keep the name and the email that the form proposes, leave the phone number empty, and write: "
        '"{message}"'
    )
    levels = ("easy", "medium")
    tags = ("form",)

    user: str
    month: str
    year_month: str
    message: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        user = queries.shopper(worlds["shop"], stream, 12, 400)
        months = queries.rows(
            worlds["shop"],
            "SELECT substr(o.created_at, 1, 7) AS month FROM orders AS o JOIN customers AS c ON c.id = o.customer_id"
            " WHERE c.email = ? GROUP BY 1 HAVING count(*) >= 2 ORDER BY 1",
            user,
        )
        found = queries.pick(stream, months)
        if found is None:
            return None
        year, month = found["month"].split("-")
        drawn = cls(user, f"{pages.MONTHS[int(month) - 1]} {year}", found["month"], stream.choice(_MESSAGES))
        return None if queries.best(drawn._orders(worlds["shop"]), _total) is None else drawn

    def _orders(self, world: World) -> list[Row]:
        orders = queries.orders_of(world, self.user)
        return [order for order in orders if order["created_at"].startswith(self.year_month)]

    def key(self, worlds: Worlds) -> Key:
        world = worlds["shop"]
        orders = self._orders(world)
        totals = Key.seen_share(1.0, [facts.order_total(order) for order in orders])
        form = Key.checkpoint("contact form", PagePattern(site="shop", path="/contact"))
        return self._written(world, max(orders, key=_total)) & totals & LIST & form

    def _written(self, world: World, order: Row) -> Key:
        (customer,) = queries.rows(world, "SELECT * FROM customers WHERE email = ?", self.user)
        return Key.insert(
            "contact_messages", name=f"{customer['first_name']} {customer['last_name']}", email=customer["email"],
            phone="", order_number=order["number"], message=self.message,
        )  # fmt: skip

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        world = worlds["shop"]
        orders, every = self._orders(world), queries.orders_of(world, self.user)
        return {
            "newest-of-the-month": self._written(world, orders[0]),
            "largest-of-all": self._written(world, max(every, key=_total)),
        }

    def effort(self, worlds: Worlds) -> Effort:
        orders = self._orders(worlds["shop"])
        last = list_page(worlds["shop"], self.user, orders[-1]["number"])
        return Effort(rows=len(orders), pages=last + 1, steps=last + 8)

    def solve(self, page: Observation) -> Walk:
        number = yield from self._largest(page)
        page = yield Action.of("goto", f"{page.url.rstrip('/')}/contact")
        return (yield from self._write(page, number))

    def routes(self) -> Mapping[str, Route]:
        return {"by-the-footer": self._by_the_footer}

    def _by_the_footer(self, page: Observation) -> Walk:
        number = yield from self._largest(page)
        page = yield Action.of("goto", page.url)
        page = yield from click(page, "link", "Contact Us")
        return (yield from self._write(page, number))

    def hasty(self) -> Mapping[str, Route]:
        return {"newest-of-the-month": self._newest}

    def _newest(self, page: Observation) -> Walk:
        orders = yield from pages.all_orders_until(page, self._past)
        number = next(order.number for order in orders if self._fits(order))
        page = yield Action.of("goto", f"{page.url.rstrip('/')}/contact")
        return (yield from self._write(page, number))

    def _largest(self, page: Observation) -> Walk:
        orders = yield from pages.all_orders_until(page, self._past)
        return max(filter(self._fits, orders), key=lambda order: order.cents).number

    def _fits(self, order: pages.Order) -> bool:
        return f"{order.year}-{order.month:02d}" == self.year_month

    def _past(self, order: pages.Order) -> bool:
        return f"{order.year}-{order.month:02d}" < self.year_month

    def _write(self, page: Observation, number: object) -> Walk:
        page = yield from fill(page, "textbox", "Order Number (optional)", str(number))
        page = yield from fill(page, "textbox", "What's on your mind?", self.message)
        return (yield from submit(page, "Submit"))


@dataclass(frozen=True)
class EmailTaken(Template):
    """Ask for an account with an email address that has one already."""

    name = "shop.email-taken"
    kind = "unachievable"
    chore = "others"
    instruction = (
        "Create a new account for {first_name} {last_name} in this shop, with the email address {email} and the "
        'password "{password}". Do not sign up for the newsletter.'
    )
    levels = ("easy",)
    tags = ("form",)

    first_name: str
    last_name: str
    email: str
    password: str

    @classmethod
    def draw(cls, worlds: Worlds, stream: Stream) -> Self | None:
        found = queries.some_row(worlds["shop"], stream, "SELECT * FROM customers ORDER BY id")
        if found is None:
            return None
        password = f"{stream.choice(('maple', 'quartz', 'ferry', 'lantern'))}-{stream.between(1000, 9999)}"
        return cls(found["first_name"], found["last_name"], found["email"], password)

    def key(self, worlds: Worlds) -> Key:
        refused = Key.seen("There is already an account with this email", together="page")
        form = Key.checkpoint("form", PagePattern(site="shop", path="/account/register"))
        return Key.refusal("DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR", facts=refused) & form

    def shortcuts(self, worlds: Worlds) -> Shortcuts:
        made = Key.insert(
            "customers", email=f"new.{self.email}", first_name=self.first_name, last_name=self.last_name,
            password_hash="0" * 64,
        )  # fmt: skip
        return {"another-email": made}

    def effort(self, worlds: Worlds) -> Effort:
        return Effort(rows=1, pages=1, steps=8, longest=9)

    def solve(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Create an Account")
        return (yield from self._sign_up(page))

    def routes(self) -> Mapping[str, Route]:
        return {"from-the-log-in": self._from_log_in}

    def _from_log_in(self, page: Observation) -> Walk:
        page = yield from click(page, "link", "Log In")
        page = yield from click(page, "link", "Create an Account")
        return (yield from self._sign_up(page))

    def _sign_up(self, page: Observation) -> Walk:
        page = yield from self._filled_in(page)
        page = yield from click(page, "button", "Create an Account")
        if page.find("textbox", "Confirm Password") is None:
            raise AgentError(f"{self.email} had no account after all.")
        return refusal("mutate", "DATA_VALIDATION_ERROR", "There is already an account with this email.")

    def _filled_in(self, page: Observation) -> Steps:
        entries = {
            "First Name": self.first_name, "Last Name": self.last_name, "Email": self.email, "Password": self.password,
            "Confirm Password": self.password,
        }  # fmt: skip
        for name, value in entries.items():
            page = yield from fill(page, "textbox", name, value)
        return page
