"""Who a visitor is: a random token in a cookie, and a row in the site's table `sessions`.

That table has the columns `token`, `notice` (shown once, on the next page) and `created_at`, all telemetry. A site with
users adds a column that refers to them, and any column of its own.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from webassay.core.errors import InputError
from webassay.sites.kit import Row, SqlValue, World
from webassay.sites.web.dates import stamp

SESSIONS = """
CREATE TABLE sessions (
    token TEXT NOT NULL PRIMARY KEY,
    user_id INTEGER,
    notice TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
"""The table for sites that add nothing of their own."""

SESSION_COLUMNS = "token user_id notice created_at"


@dataclass(frozen=True)
class Sessions:
    cookie: str
    users: str = ""
    """The table of users, with a column `id`. Without one, nobody can log in."""
    user_id: str = "user_id"
    """The column of `sessions` that refers to it."""
    login: str = "email"
    """The column of `users` that names a user."""
    fresh: Mapping[str, SqlValue] = field(default_factory=dict)
    """What the site's own columns contain at first."""
    table: str = "sessions"
    """A site that shares a database has sessions of its own."""

    def find(self, world: World, token: str) -> Row | None:
        return world.row(f"SELECT * FROM {self.table} WHERE token = ?", token) if token else None

    def user(self, world: World, session: Row) -> Row | None:
        return world.row(f"SELECT * FROM {self.users} WHERE id = ?", session[self.user_id]) if self.users else None

    def start(self, world: World, user_id: int | None) -> str:
        """The token of a new session. Call inside a write."""
        token = secrets.token_urlsafe(24)
        row = {
            "token": token,
            self.user_id: user_id,
            "notice": "",
            "created_at": stamp(world.now()),
            **self.fresh,
        }
        world.db.execute(
            f"INSERT INTO {self.table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
        )
        return token

    def end(self, world: World, token: str) -> None:
        """Call inside a write."""
        world.db.execute(f"DELETE FROM {self.table} WHERE token = ?", (token,))

    def leave(self, world: World, token: str, notice: str) -> None:
        """A notice for the next page. Call inside a write."""
        world.db.execute(f"UPDATE {self.table} SET notice = ? WHERE token = ?", (notice, token))

    # --- what a `Site` needs ---

    def log_in(self, world: World, user: str) -> dict[str, str]:
        found = world.scalar(f"SELECT id FROM {self.users} WHERE {self.login} = ?", user) if self.users else None
        if found is None:
            raise InputError(
                f"The {world.site.name} site has no user {user!r}.", hint=f"Users are named by their {self.login}."
            )
        with world.write():
            return {self.cookie: self.start(world, found)}

    def whoami(self, world: World, cookies: Mapping[str, str]) -> str:
        session = self.find(world, cookies.get(self.cookie, ""))
        user = self.user(world, session) if session else None
        return str(user[self.login]) if user else ""
