"""A site's static files and templates, on top of the kit's."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import jinja2

from webassay.sites.receipts import TemplateEnvironment

_KIT = "webassay.sites.web"
_MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Static:
    """All files, with a digest of them that is part of their URL, so that browsers may cache them forever.

    Not Starlette's `StaticFiles`: it looks at the disk for every request, and its ETags and times would differ between
    machines.
    """

    package: str
    style: str
    """The site's style sheet. It is served with the kit's in front, as one file."""

    @cached_property
    def _files(self) -> Mapping[str, bytes]:
        kit, own = _read(_KIT), _read(self.package)
        return {**kit, **own, self.style: kit["web.css"] + own.get(self.style, b"")}

    @cached_property
    def digest(self) -> str:
        digest = hashlib.sha256()
        for name, data in sorted(self._files.items()):
            digest.update(name.encode() + data)
        return digest.hexdigest()[:12]

    def url(self, name: str) -> str:
        return f"/static/{self.digest}/{name}"

    def get(self, digest: str, name: str) -> tuple[bytes, str] | None:
        """The file and its media type."""
        if digest != self.digest or name not in self._files:
            return None
        return self._files[name], _MEDIA_TYPES[name[name.rfind(".") :]]


def _read(package: str) -> dict[str, bytes]:
    folder = files(package) / "static"
    return {item.name: item.read_bytes() for item in folder.iterdir()} if folder.is_dir() else {}


def environment(package: str, names: Mapping[str, Any]) -> jinja2.Environment:
    """Shared by all worlds: it holds compiled templates, no data. The kit's templates are below `web/`, and its
    components are `ui`."""
    env = TemplateEnvironment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PrefixLoader({"web": jinja2.PackageLoader(_KIT)})]
        ),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    env.globals.update(names)
    env.globals["ui"] = env.get_template("web/components.html").module
    return env
