"""Obstacles for agents: errors, delays, log-in walls, banners between the visitor and a site.

The site does not know about them. Only one touches its data, and what it does is no change of the visitor's. `named`
draws those that a task can ask for.
"""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Annotated, Literal
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from webassay.core.errors import InputError
from webassay.sites.rng import Stream


class _Obstacle(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = "/*"
    """A pattern for the whole path; `*` matches anything, including slashes."""
    spared: str = ""
    """A pattern for paths that it leaves alone all the same."""
    method: str = "*"
    times: int | None = Field(default=None, ge=1)
    """How many requests it affects before it goes away; None: all."""
    after: int = Field(default=0, ge=0)
    """How many requests it lets pass first."""

    def meets(self, method: str, path: str) -> bool:
        concerned = fnmatchcase(path, self.path) and not fnmatchcase(path, self.spared)
        return concerned and fnmatchcase(method, self.method)


class StatusObstacle(_Obstacle):
    """Answers the request with an error, before it reaches the site."""

    kind: Literal["status"] = "status"
    status: int = Field(default=503, ge=400, le=599)
    body: str = "<!doctype html><title>Service unavailable</title><h1>This page is not available at the moment.</h1>"


class DelayObstacle(_Obstacle):
    """Delays the request."""

    kind: Literal["delay"] = "delay"
    seconds: float = Field(gt=0, le=120)


class SignedOutObstacle(_Obstacle):
    """Removes the request's cookies, so that the site shows what it shows to strangers."""

    kind: Literal["signed_out"] = "signed_out"


class RedirectObstacle(_Obstacle):
    """Redirects the request, for example to a log-in page."""

    kind: Literal["redirect"] = "redirect"
    location: str

    def target(self) -> str:
        # Headers cannot contain line breaks or non-ASCII letters.
        return quote(self.location, safe="/:?#[]@!$&'()*+,;=%~-._")


class LogInWallObstacle(_Obstacle):
    """Sends whoever opens a page to the log-in, until they have logged in there; an earlier log-in does not count.
    Sites without accounts have no wall."""

    kind: Literal["log_in_wall"] = "log_in_wall"
    method: str = "GET"
    log_in: str = ""
    """It is the only page that can be reached; empty: the one where the site's visitors log in."""

    def meets(self, method: str, path: str) -> bool:
        return path == self.log_in or super().meets(method, path)

    def target(self, path: str, query: str) -> str:
        return f"{self.log_in}?{urlencode({'next': f'{path}?{query}' if query else path})}"


class LostFieldObstacle(_Obstacle):
    """Loses what was entered in one field of a form. It counts forms that have such a field with something in it."""

    kind: Literal["lost_field"] = "lost_field"
    method: str = "POST"
    fields: tuple[str, ...] = Field(min_length=1)
    """The first of them that the form has is lost."""

    def without_field(self, body: bytes) -> bytes:
        """The same if it has none of them."""
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
        entered = {name for name, value in pairs if value}
        lost = next((field for field in self.fields if field in entered), None)
        return urlencode([(name, "" if name == lost else value) for name, value in pairs]).encode() if lost else body


class EventObstacle(_Obstacle):
    """Something happens on the site just before a request gets there: one of its `events`. It counts requests before
    which it did happen, and does nothing on a site that has no such event."""

    kind: Literal["event"] = "event"
    method: str = "POST"
    event: str


class InjectObstacle(_Obstacle):
    """Puts something into every page, at its end. It counts pages, not requests."""

    kind: Literal["inject"] = "inject"
    html: str
    dismiss: str = ""
    """A form in it that is posted to this path makes it go away, and leads back to the page."""


Obstacle = Annotated[
    StatusObstacle
    | DelayObstacle
    | SignedOutObstacle
    | RedirectObstacle
    | LogInWallObstacle
    | LostFieldObstacle
    | EventObstacle
    | InjectObstacle,
    Field(discriminator="kind"),
]
OBSTACLES: TypeAdapter[tuple[Obstacle, ...]] = TypeAdapter(tuple[Obstacle, ...])


class Standing:
    """An obstacle before a world, and how often it was met."""

    def __init__(self, obstacle: Obstacle) -> None:
        self.obstacle = obstacle
        self._before = obstacle.after
        self._left = obstacle.times

    def stands(self, method: str, path: str) -> bool:
        return self._left != 0 and self.obstacle.meets(method, path)

    def takes_place(self) -> bool:
        """Counts it: whether it has let enough pass, and is met once more."""
        if self._before:
            self._before -= 1
            return False
        self._left = None if self._left is None else self._left - 1
        return True

    def remove(self) -> None:
        self._left = 0


# --- by name ----------------------------------------------------------------------------------------------

_OVER = "position:fixed;z-index:9999;background:#fff;color:#222;padding:24px;box-shadow:0 0 0 1px #999;"
_BANNER = (
    f'<section aria-label="Cookies" style="{_OVER}left:0;right:0;bottom:0"><p>We use cookies to keep your cart and to'
    ' see which pages are read. You can change your mind at any time.</p><form method="post" action="/cookie-choice">'
    '<button type="submit">Accept Cookies</button></form></section>'
)
_POPUP = (
    '<div style="position:fixed;inset:0;z-index:9998;background:rgba(0,0,0,.55)"></div><div role="dialog"'
    f' aria-modal="true" aria-label="Newsletter offer" style="{_OVER}left:50%;top:50%;transform:translate(-50%,-50%);'
    'max-width:420px"><h2>Before you go on</h2><p>Our letter comes once a month, with news from the warehouse.</p>'
    '<form method="post" action="/newsletter-offer"><button type="submit">No Thanks</button></form></div>'
)
_MOVED = (
    "<style>header .bar,.toolbar,.actions,.with-side,.with-summary,.pager ul{flex-direction:row-reverse}"
    ".card-text,form.stacked{display:flex;flex-direction:column}.card-text form,.card-text .button,"
    "form.stacked>button{order:-1}</style>"
)
_THEME = (
    "<style>:root{--ink:#eef1f4;--soft:#b8c2cc;--line:#39434d;--edge:#6f7b86;--paper:#1d242b;--ground:#12171c;"
    "--brand:#7cc4a5;--brand-dark:#a5dcc3;--tint:#24313a;--faded:#8fa0ad;--radius:0px}body{font-family:Georgia,serif}"
    "</style>"
)
_STATIC = "/static/*"
_NEEDED = ("first_name", "last_name", "street", "city", "postcode", "name", "message", "title", "text", "code")
"""Fields that no form goes without: the site asks for them again, and nobody has to notice by themselves."""


def _cookie_banner(stream: Stream) -> Obstacle:
    return InjectObstacle(html=_BANNER, dismiss="/cookie-choice")


def _newsletter_popup(stream: Stream) -> Obstacle:
    return InjectObstacle(html=_POPUP, dismiss="/newsletter-offer", after=stream.between(1, 3))


def _moved_buttons(stream: Stream) -> Obstacle:
    return InjectObstacle(html=_MOVED)


def _other_theme(stream: Stream) -> Obstacle:
    return InjectObstacle(html=_THEME)


def _slow(stream: Stream) -> Obstacle:
    return DelayObstacle(spared=_STATIC, seconds=stream.between(4, 12) / 10)


def _unavailable(stream: Stream) -> Obstacle:
    return StatusObstacle(spared=_STATIC, method="GET", after=stream.between(1, 3), times=stream.between(1, 2))


def _session_ends(stream: Stream) -> Obstacle:
    # Whoever is sent to the log-in gets a new session there, so that the old one is over.
    return SignedOutObstacle(path="/account*", method="GET", after=stream.between(0, 2), times=1)


def _log_in_wall(stream: Stream) -> Obstacle:
    # The page at the start is still there: whoever is to say that they may not enter must have tried to.
    return LogInWallObstacle(spared=_STATIC, after=1)


def _form_loses_field(stream: Stream) -> Obstacle:
    return LostFieldObstacle(fields=tuple(stream.shuffled(_NEEDED)), times=1)


def _sold_out(stream: Stream) -> Obstacle:
    return EventObstacle(event="sold-out", times=1)


def _down(stream: Stream) -> Obstacle:
    # Whoever is to say that it is down must have been there.
    return StatusObstacle(spared=_STATIC, after=1)


NAMED: dict[str, Callable[[Stream], Obstacle]] = {
    "cookie-banner": _cookie_banner,
    "newsletter-popup": _newsletter_popup,
    "moved-buttons": _moved_buttons,
    "other-theme": _other_theme,
    "slow": _slow,
    "unavailable": _unavailable,
    "session-ends": _session_ends,
    "log-in-wall": _log_in_wall,
    "form-loses-field": _form_loses_field,
    "sold-out": _sold_out,
    "down": _down,
}


def named(names: Iterable[str], seed: int) -> list[Obstacle]:
    """The obstacles of these names, as this seed draws them."""
    made = []
    for name in names:
        if name not in NAMED:
            raise InputError(f"There is no obstacle {name!r}.", hint=f"There are {', '.join(NAMED)}.")
        made.append(NAMED[name](Stream(seed, "obstacle", name)))
    return made
