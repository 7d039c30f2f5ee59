"""Long lists: page by page, sorted and filtered by what the URL says. Unknown settings are an error, not ignored; the
page of the error offers those that exist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlencode

from starlette.exceptions import HTTPException

from webassay.sites.web.forms import whole_number


class WrongSetting(HTTPException):
    """The address sets something to what it cannot be."""

    def __init__(self, name: str, detail: str, known: Sequence[str] = ()) -> None:
        super().__init__(400, detail)
        self.name = name
        self.known = known
        """What it can be, if there are few."""


@dataclass(frozen=True)
class Paging:
    page: int
    """From 1."""
    size: int
    total: int

    @classmethod
    def at(cls, text: str, size: int, total: int) -> Self:
        """The page that the URL asks for, or the last one if there are not that many."""
        asked = whole_number(text)
        if not asked:
            raise WrongSetting("p", f'"{text[:40]}" is not a page number.', ("1",))
        return cls(min(asked, max(1, -(-total // size))), size, total)

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // self.size))

    @property
    def skipped(self) -> int:
        return (self.page - 1) * self.size

    @property
    def first(self) -> int:
        return self.skipped + 1

    @property
    def last(self) -> int:
        return min(self.page * self.size, self.total)


_LABELS = {"limit": "number of items per page", "sort": "sort order", "dir": "sort direction"}


def one_of(name: str, value: str, known: Sequence[str]) -> str:
    """A setting that has to be one of these."""
    if value not in known:
        raise WrongSetting(name, f'"{value[:40]}" is not a possible {_LABELS.get(name, name)}.', known)
    return value


def same_list(query: Mapping[str, str], **changes: str | int | None) -> str:
    """The query of this list with other settings, where None removes one. Any change except of the page `p` leads to
    the first page."""
    merged = dict(query)
    if "p" not in changes:
        merged.pop("p", None)
    for name, value in changes.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = str(value)
    return f"?{urlencode(merged)}"
