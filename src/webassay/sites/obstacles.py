"""Obstacles for agents: errors, delays and log-in walls between the visitor and a site.

The site does not know about them, and they do not touch its data.
"""

from fnmatch import fnmatchcase
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Obstacle(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = "/*"
    """A pattern for the whole path; `*` matches anything, including slashes."""
    method: str = "*"
    times: int | None = Field(default=None, ge=1)
    """How many requests it affects before it goes away; None: all."""

    def meets(self, method: str, path: str) -> bool:
        return fnmatchcase(path, self.path) and fnmatchcase(method, self.method)


class StatusObstacle(_Obstacle):
    """Answers the request with an error, before it reaches the site."""

    kind: Literal["status"] = "status"
    status: int = Field(default=503, ge=400, le=599)
    body: str = "<!doctype html><title>Service unavailable</title><h1>This page is not available at the moment.</h1>"


class DelayObstacle(_Obstacle):
    """Delays the request."""

    kind: Literal["delay"] = "delay"
    seconds: float = Field(gt=0, le=120)


class SignedOutObstacle(_Obstacle):
    """Removes the request's cookies, so that the site shows what it shows to strangers."""

    kind: Literal["signed_out"] = "signed_out"


class RedirectObstacle(_Obstacle):
    """Redirects the request, for example to a log-in page."""

    kind: Literal["redirect"] = "redirect"
    location: str

    def target(self) -> str:
        # Headers cannot contain line breaks or non-ASCII letters.
        return quote(self.location, safe="/:?#[]@!$&'()*+,;=%~-._")


Obstacle = Annotated[StatusObstacle | DelayObstacle | SignedOutObstacle | RedirectObstacle, Field(discriminator="kind")]
OBSTACLES: TypeAdapter[tuple[Obstacle, ...]] = TypeAdapter(tuple[Obstacle, ...])
