"""Long lists, page by page."""

from dataclasses import dataclass
from typing import Self

from starlette.exceptions import HTTPException

from webassay.sites.shop.web import whole_number


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
            raise HTTPException(400, f"“{text[:40]}” is not a page number.")
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
