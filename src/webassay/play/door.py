"""How a door describes itself. Doors stand above everything else, so the registry knows them by this alone."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Door:
    """A way for another harness or trainer to open webassay."""

    name: str
    about: str
    """One line: for whom it is."""
    module: str
    """What to import."""
    extra: str = ""
    """The requirement that brings its libraries, such as `webassay[gym]`."""

    @property
    def summary(self) -> str:
        install = f" (pip install '{self.extra}')" if self.extra else ""
        return f"{self.about}: import {self.module}{install}."
