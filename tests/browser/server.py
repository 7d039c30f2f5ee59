"""The web server of the test pages, which the browser bench uses too."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGES = Path(__file__).parent / "pages"
TOWNS = ["Aachen", "Aalen", "Bergen", "Berlin", "Bern", "Bremen", "Zürich"]
PDF = (
    b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>"
)
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, body: bytes) -> None:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        time.sleep(float(query.get("delay", 0)) / 1000)
        if parts.path.startswith("/api/"):
            self._api(parts.path.removeprefix("/api/"), query, body)
            return
        page = PAGES / parts.path.lstrip("/")
        if page.is_file():
            kind = "text/css" if page.suffix == ".css" else "text/html"
            self._send(page.read_bytes(), f"{kind}; charset=utf-8")
        else:
            self._send(b"not here", "text/plain", 404)

    def _api(self, name: str, query: dict[str, str], body: bytes) -> None:
        match name:
            case "echo":
                self._send(query.get("say", "echo").encode(), "text/plain")
            case "items":
                start = int(query.get("from", 0))
                self._send(json.dumps([f"Item {n}" for n in range(start, start + 10)]).encode(), "application/json")
            case "towns":
                hits = [town for town in TOWNS if town.casefold().startswith(query.get("q", "").casefold())]
                self._send(json.dumps(hits).encode(), "application/json")
            case "size":
                self._send(str(len(body)).encode(), "text/plain")
            case "status":
                self._send(b"as asked", "text/plain", int(query["code"]))
            case "redirect":
                self._send(b"", "text/plain", 302, Location=query["to"])
            case "file":
                disposition = f'attachment; filename="{query["name"]}"'
                self._send(b"a,b\n1,2\n", "text/csv", **{"Content-Disposition": disposition})
            case "cookie":
                self._send(b"set", "text/plain", **{"Set-Cookie": "flavour=vanilla; Path=/"})
            case "whoami":
                self._send((self.headers.get("Cookie") or "nobody").encode(), "text/plain")
            case "pdf":
                self._send(PDF, "application/pdf")
            case "turncoat":
                # A file the first time, a page with a frame the second: only the cookie tells which.
                if "flavour" in (self.headers.get("Cookie") or ""):
                    self._send(b"<iframe src='/api/echo?say=inside'></iframe>", "text/html")
                else:
                    self._send(PDF, "application/pdf")
            case "drawing":
                text = b'<svg xmlns="http://www.w3.org/2000/svg"><text y="20">Made in Peru</text></svg>'
                self._send(text, "image/svg+xml")
            case "pixel":
                self._send(PIXEL, "image/png")
            case "halves":
                self._send(b"<title>Both</title><p>First half</p>".ljust(2048), "text/html", rest=b"<p>Second half</p>")
            case "socket":
                self._talk(query)
            case "hangup":
                self.close_connection = True
                self.connection.close()
            case _:
                self._send(b"no such thing", "text/plain", 404)

    def _talk(self, query: dict[str, str]) -> None:
        """A web socket. `250 words` is answered with the words after 250 ms, anything else is not answered. `greeting`
        is taken for such a message as soon as somebody connects."""
        self.close_connection = True
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self._reply(query.get("greeting", ""))
        while len(head := self.rfile.read(6)) == 6 and head[0] == 0x81:
            length, mask = head[1] & 0x7F, head[2:]
            masked = self.rfile.read(length)
            self._reply(bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked)).decode())

    def _reply(self, message: str) -> None:
        delay, _, words = message.partition(" ")
        if delay.isdigit():
            time.sleep(int(delay) / 1000)
            self.wfile.write(bytes((0x81, len(words))) + words.encode())

    def _send(self, data: bytes, kind: str, status: int = 200, *, rest: bytes = b"", **headers: str) -> None:
        """`rest` follows after half a second."""
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data) + len(rest)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            if rest:
                time.sleep(0.5)
                self.wfile.write(rest)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that was closed on purpose is no error."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler] = Handler) -> Iterator[int]:
    """The port, while it lasts."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
