"""The pages of the census: our own sources, built with libraries from the npm registry into a cache."""

import hashlib
import shutil
import subprocess
import tempfile
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
    package = HERE / "package.json"
    libraries = cache / f"libraries-{_hash([package])}"
    if not libraries.exists():
        print("Installing the component libraries from the npm registry (once, about a minute)...", flush=True)
        # Nothing of theirs runs at install: some packages leave a process behind that reports to its makers.
        install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
        with _made(libraries) as folder:
            shutil.copy(package, folder / "package.json")
            subprocess.run([*install, "--loglevel=error"], cwd=folder, check=True)
    sources = [package, HERE / "build.mjs", *sorted(path for path in SOURCES.rglob("*") if path.is_file())]
    pages = cache / f"pages-{_hash(sources)}"
    if not pages.exists():
        print("Building the pages...", flush=True)
        with _made(pages) as folder:
            command = ["node", str(HERE / "build.mjs"), str(libraries), str(SOURCES), str(folder)]
            subprocess.run(command, check=True)
    return pages


def _hash(files: list[Path]) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


@contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """A folder that gets its name when it is complete: another run may be looking for it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
        made = Path(draft) / folder.name
        made.mkdir()
        yield made
        if not folder.exists():
            made.rename(folder)


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
