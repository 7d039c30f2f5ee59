"""Who may see and change what. A role has areas that it sees, and areas that it changes."""

from dataclasses import dataclass

from webassay.sites.receipts import ours

AREAS = {
    "orders": "orders",
    "products": "products",
    "customers": "customers",
    "reviews": "reviews",
    "marketing": "price rules",
    "content": "pages",
    "reports": "reports",
    "staff": "users",
}
"""Each with what is in it, as messages name it."""


@dataclass(frozen=True)
class Role:
    name: str
    sees: frozenset[str]
    changes: frozenset[str]

    def refusal(self, area: str, change: bool) -> str:
        """Why not, in words; empty if it may."""
        if area not in self.sees:
            return ours(f"Your role, {self.name}, may not see {AREAS[area]}.")
        if change and area not in self.changes:
            return ours(f"Your role, {self.name}, may look at {AREAS[area]}, but not change them.")
        return ""


def _role(name: str, sees: str, changes: str) -> Role:
    return Role(ours(name), frozenset(sees.split()), frozenset(changes.split()))


_ALL = " ".join(AREAS)
_BUSINESS = " ".join(area for area in AREAS if area != "staff")

ROLES = {
    "owner": _role("Owner", _ALL, _ALL),
    "manager": _role("Manager", _BUSINESS, _BUSINESS),
    "sales": _role("Sales", "orders customers products reports", "orders customers"),
    "catalog": _role("Catalog", "products reviews marketing content reports", "products reviews content"),
    "viewer": _role("Viewer", _BUSINESS, ""),
}
