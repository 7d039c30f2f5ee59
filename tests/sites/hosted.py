"""A visitor of a site as the server hosts it: with its record, and without a server in between."""

from urllib.parse import urlencode

from tests.sites.visitors import fresh
from webassay.core.served import ServedAnswer, ServedRecord
from webassay.sites.kit import Site, World
from webassay.sites.server import HostedWorld


class HostedVisitor:
    def __init__(self, site: Site, user: str = "", world: World | None = None) -> None:
        self.world = world or fresh(site)
        self.hosted = HostedWorld(self.world)
        self.hosted.recorder.hand_over()
        self.cookies = site.log_in(self.world, user) if user else {}

    async def get(self, path: str, **headers: str) -> str:
        return await self._ask("GET", path, b"", headers)

    async def post(self, path: str, **form: object) -> str:
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return await self._ask("POST", path, urlencode(form).encode(), kind)

    async def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> str:
        place, _, query = path.partition("?")
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        given = {"host": "x", "accept": "text/html", "cookie": cookie, "content-length": str(len(body)), **headers}
        scope = {
            "type": "http", "method": method, "path": place, "raw_path": place.encode(), "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()], "http_version": "1.1",
            "scheme": "http", "server": ("x", 80), "client": None, "root_path": "",
        }  # fmt: skip
        _, *parts = await self.hosted.answer(scope, body)
        return b"".join(part.get("body", b"") for part in parts).decode()

    def record(self) -> ServedRecord:
        return ServedRecord.unpack(self.hosted.recorder.pack()()[0])


def lines_of(record: ServedRecord, served: ServedAnswer) -> list[str]:
    """All lines of a page."""

    def lines(number: int) -> list[str]:
        parts = record.nodes[number].parts
        return [line for part in parts for line in ([part] if isinstance(part, str) else lines(part))]

    return lines(served.page) if served.page is not None else []
