"""Visits to the back office as with a browser: forms are filled in where they stand; and what a visit changed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any

import httpx

from tests.sites.shop_visits import differing
from tests.sites.visitors import content
from webassay.sites.kit import Row, World

OWNER, MANAGER, SALES, CATALOG, VIEWER = (
    "greta.holm", "owen.baptiste", "lena.sato", "tomas.reyes", "ivy.thornton",
)  # fmt: skip


def one(world: World, sql: str, *params: str | int) -> Row:
    found = world.row(f"{sql} LIMIT 1", *params)
    assert found is not None
    return found


def ticks(rows: list[Row]) -> dict[str, str]:
    return {f"pick-{row['id']}": "1" for row in rows}


# --- forms ------------------------------------------------------------------------------------------------


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    """What is sent if nobody touches anything."""
    hidden: set[str] = field(default_factory=set)
    boxes: dict[str, str] = field(default_factory=dict)
    """Boxes to tick, with what they send then."""
    choices: dict[str, list[str]] = field(default_factory=dict)
    """What a list offers, as it is sent."""
    has_button: bool = False

    def filled(self, typed: Mapping[str, str | None]) -> dict[str, str]:
        """None: the box is not ticked."""
        for name, value in typed.items():
            known = self.choices.get(name) or ([self.boxes[name]] if name in self.boxes else None)
            assert name in self.fields or known, f"There is no field {name}."
            assert value is None or known is None or value in known, f"{name} cannot be {value!r}, only {known}."
        sent = {**self.fields, **typed}
        # Browsers end the lines of a form in this way.
        return {name: value.replace("\n", "\r\n") for name, value in sent.items() if value is not None}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._inside = False
        self._list = ""
        self._option: str | None = None
        self._text: list[str] | None = None
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", ""), given.get("method", "get")))
            self._inside = True
        if not self._inside:
            return
        form, name = self.forms[-1], given.get("name", "")
        if tag == "button":
            form.has_button = True
        elif tag == "input" and name:
            self._input(form, name, given)
        elif tag == "select":
            self._list = name
            form.choices[name] = []
        elif tag == "option":
            self._option, self._text = given.get("value"), []
            if "selected" in given:
                form.fields[self._list] = given.get("value", "")
        elif tag == "textarea":
            self._area, self._text = name, []

    def _input(self, form: Form, name: str, given: Mapping[str, str]) -> None:
        value = given.get("value", "")
        if given.get("type") == "checkbox":
            form.boxes[name] = value
        if given.get("type") == "hidden":
            form.hidden.add(name)
        if given.get("type") not in ("checkbox", "radio") or "checked" in given:
            form.fields[name] = value

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        text = "".join(self._text or ())
        if tag == "form":
            self._inside = False
        elif tag == "option" and self._text is not None:
            value = text if self._option is None else self._option
            self.forms[-1].choices[self._list].append(value)
            self.forms[-1].fields.setdefault(self._list, value)
            self._text = None
        elif tag == "textarea" and self._text is not None:
            self.forms[-1].fields[self._area] = text.removeprefix("\n")
            self._text = None


def forms_on(page: str) -> list[Form]:
    reader = _Reader()
    reader.feed(page)
    return reader.forms


async def filled_in(
    client: httpx.AsyncClient, path: str, typed: Mapping[str, str | None] | None = None, to: str = ""
) -> dict[str, str]:
    """What the form on a page sends that goes `to` an address, by default to that of the page. Of several, the one
    whose hidden fields have the values that are typed."""
    typed = typed or {}
    page = await client.get(path)
    assert page.status_code == 200, page.text
    fitting = [
        form
        for form in forms_on(page.text)
        if (form.method, form.action, form.has_button) == ("post", to, True)
        and all(form.fields[name] == typed[name] for name in form.hidden & set(typed))
    ]
    assert len(fitting) == 1, f"{path} has {len(fitting)} such forms."
    return fitting[0].filled(typed)


async def submit(
    client: httpx.AsyncClient, path: str, typed: Mapping[str, str | None] | None = None, to: str = ""
) -> httpx.Response:
    return await client.post(to or path, data=await filled_in(client, path, typed, to))


# --- answers ----------------------------------------------------------------------------------------------


async def told(client: httpx.AsyncClient, answer: httpx.Response) -> tuple[str, str]:
    """Where a form that worked leads to, and the notice that stands there."""
    assert answer.status_code == 303, answer.text
    where = answer.headers["location"]
    return where, notice((await client.get(where)).text)


def notice(page: str) -> str:
    return _only('<p class="notice" role="status">(.*?)</p>', page)


def refused(answer: httpx.Response) -> tuple[int, str]:
    """The status, and the reason in words."""
    return answer.status_code, _only('<p role="alert">(.*?)</p>', answer.text)


def problems(answer: httpx.Response) -> dict[str, str]:
    """What stands next to the fields of a form that was not accepted."""
    assert answer.status_code == 422
    found = re.findall(r'<p class="field-error" id="error-(\w+)">(.*?)</p>', answer.text)
    return {name: unescape(text) for name, text in found}


def _only(pattern: str, page: str) -> str:
    (found,) = re.findall(pattern, page)
    return unescape(found)


def lines_of(page: str) -> list[list[str]]:
    """The cells of the only table on a page, without its head."""
    body = _only("(?s)<tbody>(.*?)</tbody>", page)
    rows = re.findall(r"(?s)<tr[^>]*>(.*?)</tr>", body)
    return [[unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


# --- what changed -----------------------------------------------------------------------------------------


def edited(world: World) -> dict[tuple[Any, ...], dict[str, tuple[Any, Any]]]:
    """By table and key: what each column of content was and is. Rows that came or went have no place here."""
    return {
        (change.table, *change.key.values()): {
            name: values
            for name, values in differing(change).items()
            if world.site.columns[change.table][name] == "content"
        }
        for change in content(world)
    }


def added(world: World) -> list[tuple[str, dict[str, Any]]]:
    """If nothing happened but that rows came."""
    changes = content(world)
    assert all(change.before is None for change in changes)
    return [(change.table, change.after or {}) for change in changes]


def removed(world: World) -> list[tuple[str, dict[str, Any]]]:
    """If nothing happened but that rows went."""
    changes = content(world)
    assert all(change.after is None for change in changes)
    return [(change.table, change.before or {}) for change in changes]
