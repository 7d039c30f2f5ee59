"""The helper functions that WebArena's tasks name, carried out over the sites' own interfaces.

Tasks write them as calls in a text, `func:shopping_get_sku_latest_review_rating('B00J8RZL7I')`. The text is read, never
executed: a name that is known here, and arguments that are plain texts.
"""

import ast
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from webassay.core.errors import ProbeError, SiteError
from webassay.core.legacy import CALL
from webassay.environments.addresses import ACCOUNTS, Address
from webassay.environments.asking import HttpAnswer, ask


def read_call(text: str) -> tuple[str, list[str]]:
    """The function, and its arguments."""
    try:
        call = ast.parse(text.removeprefix(CALL).strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
            raise ValueError
        given = [ast.literal_eval(argument) for argument in call.args]
        if not all(isinstance(one, str) for one in given):
            raise ValueError
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise ProbeError(f"{text[:200]!r} is no call of a helper function.") from None
    return call.func.id, given


class Helpers:
    """Asks the sites at these addresses."""

    def __init__(self, sites: Mapping[str, Address], seconds: float) -> None:
        self._sites, self._seconds = sites, seconds
        self._known: Mapping[str, Callable[..., Awaitable[str]]] = {
            "shopping_get_latest_order_url": self._latest_order_url,
            "shopping_get_sku_latest_review_author": self._review_author,
            "shopping_get_sku_latest_review_rating": self._review_rating,
        }

    async def call(self, text: str) -> str:
        name, given = read_call(text)
        if name not in self._known:
            raise ProbeError(f"There is no helper function {name}.", hint=f"Known: {', '.join(self._known)}.")
        if len(given) != (0 if name == "shopping_get_latest_order_url" else 1):
            raise ProbeError(f"{text[:200]!r} has the wrong number of arguments.")
        try:
            return await self._known[name](*given)
        except SiteError as error:
            raise ProbeError(f"{name} could not be carried out: {error}") from error

    async def mark(self, site: str) -> str:
        """What an untouched site shows of its newest content, so that a reset can be told from half a reset. Empty:
        this site has no such place."""
        if site in ("shopping", "shopping_admin"):
            orders = await self._newest_orders(site)
            newest = orders["items"][0] if orders["items"] else {}
            return f"{orders['total_count']} orders, the newest is {newest.get('increment_id', '-')}"
        base = self._sites[site].url
        if site == "gitlab":
            query = urlencode({"order_by": "last_activity_at", "per_page": 1})
            found = _ok(await ask("GET", f"{base}/api/v4/projects?{query}", seconds=self._seconds)).json()
            newest = found[0] if found else {}
            return f"project {newest.get('id', '-')} was active last, at {newest.get('last_activity_at', '-')}"
        if site == "reddit":
            found = _ok(await ask("GET", f"{base}/api/submissions?sortBy=new", seconds=self._seconds)).json()
            entries = found.get("entries") or []
            return f"the newest submission is {entries[0]['id']}" if entries else "no submission"
        return ""

    # --- Magento --------------------------------------------------------------------------------------------

    async def _rest(self, site: str, path: str) -> Any:
        origin = self._sites[site].origin
        admin = self._sites.get("shopping_admin")
        name, password = (admin.username, admin.password) if admin else ACCOUNTS["shopping_admin"]
        asked = await ask(
            "POST",
            f"{origin}/rest/default/V1/integration/admin/token",
            headers={"content-type": "application/json"},
            body=json.dumps({"username": name, "password": password}).encode(),
            seconds=self._seconds,
        )
        token = {"authorization": f"Bearer {_ok(asked).json()}"}
        return _ok(await ask("GET", f"{origin}/rest/V1/{path}", headers=token, seconds=self._seconds)).json()

    async def _newest_orders(self, site: str) -> dict[str, Any]:
        query = {
            "searchCriteria[sortOrders][0][field]": "created_at",
            "searchCriteria[sortOrders][0][direction]": "DESC",
            "searchCriteria[pageSize]": "1",
        }
        found = await self._rest(site, f"orders?{urlencode(query)}")
        if not isinstance(found, dict) or not isinstance(found.get("items"), list):
            raise SiteError("The shop did not answer with a list of orders.")
        return {"total_count": found.get("total_count", "?"), "items": found["items"]}

    async def _latest_order_url(self) -> str:
        items = (await self._newest_orders("shopping"))["items"]
        if not items:
            raise SiteError("The shop has no orders.")
        return f"{self._sites['shopping'].url}/sales/order/view/order_id/{int(items[0]['increment_id'])}/"

    async def _review(self, sku: str) -> dict[str, Any]:
        """The last one; nothing where there is none."""
        found = await self._rest("shopping", f"products/{quote(sku, safe='')}/reviews")
        if not isinstance(found, list):
            raise SiteError("The shop did not answer with a list of reviews.")
        return dict(found[-1]) if found else {}

    async def _review_author(self, sku: str) -> str:
        return str((await self._review(sku)).get("nickname", ""))

    async def _review_rating(self, sku: str) -> str:
        ratings = (await self._review(sku)).get("ratings") or []
        return str(ratings[0].get("percent", "")) if ratings else ""


def _ok(answer: HttpAnswer) -> HttpAnswer:
    if not answer.ok:
        raise SiteError(f"{answer.url} answers with {answer.status}.")
    return answer
