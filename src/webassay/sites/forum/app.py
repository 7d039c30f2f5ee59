"""The forum: which address leads to which page."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from webassay.sites.forum import account_pages as account
from webassay.sites.forum import comment_pages as comments
from webassay.sites.forum import forum_pages as forums
from webassay.sites.forum import moderation_pages as moderation
from webassay.sites.forum import post_pages as posts
from webassay.sites.forum import search_pages as searching
from webassay.sites.forum import user_pages as users
from webassay.sites.forum.listing import SORTS
from webassay.sites.forum.web import WEB
from webassay.sites.kit import World
from webassay.sites.web.app import page, route


def make_app(world: World) -> ASGIApp:
    return WEB.app(world, _ROUTES)


def _sorted(path: str, handler: Callable[..., Awaitable[Response]], first: str) -> Iterator[Route]:
    """A list in each of its orders; `first` is where it stands without one."""
    yield route(first, partial(handler, sort="hot"))
    for sort in SORTS:
        yield route(f"{path}/{sort}", partial(handler, sort=sort))


_own = partial(route, members_only=True)

_ROUTES = (
    *_sorted("/home", forums.front, first="/"),
    *_sorted("/all", forums.everything, first="/all"),
    route("/forums", forums.directory),
    _own("/forums/new", forums.create, "GET", "POST"),
    *_sorted("/f/{forum}", forums.forum, first="/f/{forum}"),
    _own("/f/{forum}/edit", forums.edit, "GET", "POST"),
    _own("/f/{forum}/subscribe", forums.subscribe, "POST"),
    _own("/f/{forum}/unsubscribe", forums.unsubscribe, "POST"),
    _own("/f/{forum}/reports", moderation.queue),
    _own("/f/{forum}/bans", moderation.bans, "GET", "POST"),
    _own("/f/{forum}/unban", moderation.unban, "POST"),
    route("/f/{forum}/log", moderation.log),
    route("/f/{forum}/{id}/{slug}", posts.submission),
    route("/f/{forum}/{id}/{slug}/comment/{comment}", posts.submission),
    _own("/submit", posts.submit, "GET", "POST"),
    _own("/preview", posts.preview, "POST"),
    route("/pictures/{id}.svg", posts.picture),
    route("/pictures/{id}/small.svg", posts.thumbnail),
    route("/s/{id}", posts.short_address),
    _own("/s/{id}/edit", posts.edit, "GET", "POST"),
    _own("/s/{id}/delete", posts.delete, "GET", "POST"),
    _own("/s/{id}/vote", posts.vote, "POST"),
    _own("/s/{id}/hide", posts.hide, "POST"),
    _own("/s/{id}/unhide", posts.unhide, "POST"),
    _own("/s/{id}/report", posts.report, "GET", "POST"),
    _own("/s/{id}/comment", comments.comment, "POST"),
    _own("/s/{id}/remove", moderation.remove_post, "GET", "POST"),
    _own("/s/{id}/restore", moderation.restore_post, "POST"),
    _own("/s/{id}/lock", moderation.lock, "POST"),
    _own("/s/{id}/unlock", moderation.unlock, "POST"),
    _own("/s/{id}/pin", moderation.pin, "POST"),
    _own("/s/{id}/unpin", moderation.unpin, "POST"),
    _own("/c/{id}/reply", comments.reply, "GET", "POST"),
    _own("/c/{id}/edit", comments.edit, "GET", "POST"),
    _own("/c/{id}/delete", comments.delete, "GET", "POST"),
    _own("/c/{id}/vote", comments.vote, "POST"),
    _own("/c/{id}/report", comments.report, "GET", "POST"),
    _own("/c/{id}/remove", moderation.remove_comment, "GET", "POST"),
    _own("/c/{id}/restore", moderation.restore_comment, "POST"),
    _own("/reports/{id}/dismiss", moderation.dismiss, "POST"),
    route("/u/{user}", users.overview),
    route("/u/{user}/submissions", users.submissions),
    route("/u/{user}/comments", users.comments),
    route("/u/{user}/votes", users.votes),
    _own("/u/{user}/block", users.block, "POST"),
    _own("/u/{user}/unblock", users.unblock, "POST"),
    _own("/u/{user}/message", users.write, "GET", "POST"),
    route("/search", searching.search),
    route("/search/suggest", searching.suggest),
    route("/account/login", account.login, "GET", "POST"),
    route("/account/register", account.register, "GET", "POST"),
    route("/account/logout", account.logout, "POST"),
    _own("/account", account.settings, "GET", "POST"),
    _own("/account/messages", users.inbox),
    _own("/account/messages/{id}", users.conversation, "GET", "POST"),
    _own("/account/subscriptions", account.subscriptions),
    _own("/account/hidden", account.hidden),
    _own("/account/blocked", account.blocked),
    page("/help", "help.html"),
)
