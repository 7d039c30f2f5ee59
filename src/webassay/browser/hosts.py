"""Which hosts a session may reach."""

from collections.abc import Collection
from urllib.parse import urlsplit

from webassay.browser.cdp import Params


class AllowList:
    """Entries are `host` (any port), `host:port`, `*.host` (everything below it), or `*` for all."""

    def __init__(self, hosts: Collection[str]) -> None:
        self.hosts = frozenset(host.lower() for host in hosts)

    def permits(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            return False
        if parts.scheme not in ("http", "https", "ws", "wss") or not host:
            return False
        port = port or (443 if parts.scheme in ("https", "wss") else 80)
        pieces = host.split(".")
        names = {"*", host, f"{host}:{port}", *("*." + ".".join(pieces[n:]) for n in range(1, len(pieces)))}
        return not names.isdisjoint(self.hosts)

    def why_not(self, url: str) -> str:
        """Why an agent may not go there; empty: it may."""
        if url == "about:blank" or self.permits(url):
            return ""
        scheme, _, rest = url.partition(":")
        if not rest or not scheme.isalpha() or (rest[:1].isdigit() and not rest.startswith("//")):
            return "an address must begin with http:// or https://"
        if scheme.lower() in ("http", "https"):
            return "its host is not part of this task"
        return f"{scheme}: addresses are not opened here"

    def proxy(self, dead_end: str) -> Params:
        """Everything else is sent to a proxy that does not exist: subresources, web sockets, service workers,
        redirects and prefetches alike, and no name is ever looked up."""
        if "*" in self.hosts:
            return {}
        return {"proxyServer": dead_end, "proxyBypassList": ";".join(["<-loopback>", *sorted(self.hosts)])}
