"""Writing to the shop, and signing up with it."""

from typing import Self

from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Mutate, Parts, Refuse, fair
from webassay.arena.kit.walking import links, refused, send, submit
from webassay.arena.shop import facts, pages, queries
from webassay.core.interaction import Action, Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import World
from webassay.sites.rng import Stream

_MESSAGES = (
    "The parcel arrived, but one of the boxes inside was open. What should I do?",
    "Could you send me a copy of the invoice? I need it for my records.",
    "I would like to know from which warehouse this was sent.",
    "Please tell me whether the articles of this order are still made in the same way.",
    "The tracking page has not changed for a week. Is the parcel lost?",
    "I think that I was charged twice for shipping. Please check.",
)


class AskAboutOrder(Mutate):
    """Write to the shop about the largest order of a month."""

    name = "shop.ask-about-order"
    chore = "long_term_memory"
    instruction = (
        "Which of my orders of {month} has the highest order total? Ask the shop about it with the contact form. "
        'Enter the order number and this message: "{message}" Keep the name and the email in the form, and leave the '
        "phone number empty."
    )
    levels = ("easy", "medium")
    tags = ("form",)
    misread = {"newest-of-the-month": {"newest": True}, "largest-of-all": {"any_month": True}}
    ways = {"by-the-footer": {"footer": True}}

    user: str
    month: str
    year_month: str
    message: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.shopper(world, stream, 12, 400)
        month = queries.month_of_orders(world, stream, user, "count(*) >= 2")
        return cls(user, *month, stream.choice(_MESSAGES))

    def end(self, world: World, *, newest: bool = False, any_month: bool = False) -> Parts:
        orders = queries.orders_during(world, self.user, "" if any_month else self.year_month)
        yield fair(queries.best(orders, queries.total))
        order = orders[0] if newest else max(orders, key=queries.total)
        (customer,) = queries.rows(world, "SELECT * FROM customers WHERE email = ?", self.user)
        yield Key.insert(
            "contact_messages", name=f"{customer['first_name']} {customer['last_name']}", email=customer["email"],
            phone="", order_number=order["number"], message=self.message,
        )  # fmt: skip
        yield Key.seen_share(1.0, [facts.order_total(one) for one in orders])
        yield facts.LIST
        yield Key.checkpoint("contact form", PagePattern(site="shop", path="/contact"))
        last = queries.list_page(world, self.user, orders[-1]["number"])
        yield Effort(rows=len(orders), pages=last + 1, steps=last + 8)

    def solve(self, page: Observation, *, newest: bool = False, footer: bool = False) -> Walk:
        listed = yield from pages.all_orders_until(page, lambda order: order.year_month < self.year_month)
        orders = [order for order in listed if order.year_month == self.year_month]
        number = (orders[0] if newest else max(orders, key=lambda order: order.cents)).number
        if footer:
            page = yield Action.of("goto", page.url)
            page = yield from links(page, "Contact Us")
        else:
            page = yield Action.of("goto", f"{page.url.rstrip('/')}/contact")
        typed = {"Order Number (optional)": number, "What's on your mind?": self.message}
        return (yield from submit(page, "Submit", typed))


class EmailTaken(Refuse):
    """Ask for an account with an email address that has one already."""

    name = "shop.email-taken"
    instruction = (
        "Create a new account in this shop for {first_name} {last_name} with the email address {email} and the "
        'password "{password}". Do not sign up for the newsletter.'
    )
    tags = ("form",)
    misread = {"another-email": {"instead": True}}
    ways = {"from-the-log-in": {"by": ("Log In", "Create an Account")}}

    first_name: str
    last_name: str
    email: str
    password: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        taken = stream.choice(queries.rows(world, "SELECT * FROM customers ORDER BY id"))
        password = f"{stream.choice(('maple', 'quartz', 'ferry', 'lantern'))}-{stream.between(1000, 9999)}"
        return cls(taken["first_name"], taken["last_name"], taken["email"], password)

    def end(self, world: World, *, instead: bool = False) -> Parts:
        if instead:
            yield Key.insert(
                "customers", email=f"new.{self.email}", first_name=self.first_name, last_name=self.last_name,
                password_hash="0" * 64,
            )  # fmt: skip
        refused = Key.seen("There is already an account with this email", together="page")
        yield Key.refusal("DATA_VALIDATION_ERROR", "ACTION_NOT_ALLOWED_ERROR", facts=refused)
        yield Key.checkpoint("form", PagePattern(site="shop", path="/account/register"))
        yield Effort(rows=1, pages=1, steps=8, longest=9)

    def solve(self, page: Observation, *, by: tuple[str, ...] = ("Create an Account",)) -> Walk:
        page = yield from links(page, *by)
        entries = {
            "First Name": self.first_name, "Last Name": self.last_name, "Email": self.email, "Password": self.password,
            "Confirm Password": self.password,
        }  # fmt: skip
        page = yield from send(page, "Create an Account", entries)
        made = page.find("textbox", "Confirm Password") is None
        return refused(page, made, "mutate", "DATA_VALIDATION_ERROR", "There is already an account with this email.")
