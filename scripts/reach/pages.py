"""The pages of the census: our own sources, built with libraries from the npm registry into a cache."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.browser.server import serving

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "pages"


def built(cache: Path) -> Path:
    """The folder of the built pages; libraries and pages are made again only if their sources changed."""
    if shutil.which("npm") is None:
        raise SystemExit("The pages are built with npm and node 18 or newer, which are not installed here.")
    cache.mkdir(parents=True, exist_ok=True)
    package = HERE / "package.json"
    if _changed(cache / "libraries.hash", [package]):
        print("Installing the component libraries from the npm registry (once, about a minute)...", flush=True)
        shutil.copy(package, cache / "package.json")
        install = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
        subprocess.run(install, cwd=cache, check=True)
        _done(cache / "libraries.hash", [package])
        (cache / "pages.hash").unlink(missing_ok=True)
    sources = [HERE / "build.mjs", *sorted(path for path in SOURCES.rglob("*") if path.is_file())]
    if _changed(cache / "pages.hash", sources):
        print("Building the pages...", flush=True)
        shutil.rmtree(cache / "built", ignore_errors=True)
        command = ["node", str(HERE / "build.mjs"), str(cache), str(SOURCES), str(cache / "built")]
        subprocess.run(command, check=True)
        _done(cache / "pages.hash", sources)
    return cache / "built"


def _hash(files: list[Path]) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _changed(mark: Path, files: list[Path]) -> bool:
    return not mark.exists() or mark.read_text() != _hash(files)


def _done(mark: Path, files: list[Path]) -> None:
    mark.write_text(_hash(files))


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def end_headers(self) -> None:
        # Fresh copies of a page are opened thousands of times.
        self.send_header("Cache-Control", "max-age=86400, immutable")
        super().end_headers()


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """The base address, while it lasts."""
    with serving(partial(_Handler, directory=str(folder))) as port:  # type: ignore[arg-type]
        yield f"http://pages.localhost:{port}/"
