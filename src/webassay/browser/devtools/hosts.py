"""Which hosts a session may reach."""

from collections.abc import Collection
from urllib.parse import urlsplit

from webassay.browser.devtools.cdp import Params


class AllowList:
    """Entries are `host` (any port), `host:port`, `*.host` (all its subdomains), or `*` (everything)."""

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
        """Why the agent may not open this URL; empty if it may."""
        if url == "about:blank" or self.permits(url):
            return ""
        scheme, _, rest = url.partition(":")
        if not rest or not scheme.isalpha() or (rest[:1].isdigit() and not rest.startswith("//")):
            return "a URL must begin with http:// or https://"
        if scheme.lower() in ("http", "https"):
            return "its host is not part of this task"
        return f"{scheme}: URLs are not allowed"

    def proxy(self, dead_end: str) -> Params:
        """Sends everything else (subresources, web sockets, service workers, redirects, prefetches) to a proxy that
        does not exist, so that no other host name is ever resolved."""
        if "*" in self.hosts:
            return {}
        return {"proxyServer": dead_end, "proxyBypassList": ";".join(["<-loopback>", *sorted(self.hosts)])}
