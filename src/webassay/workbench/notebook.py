"""A run directory at hand, for notebooks."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webassay.analysis.episode.view import EpisodeView, UnitLine
from webassay.analysis.output.units import frame_of
from webassay.compose.given import AnyPath, Names
from webassay.compose.setup import Setup
from webassay.core.report import Report
from webassay.store.runs import open_run
from webassay.workbench import report as numbers
from webassay.workbench import show


@dataclass(frozen=True)
class Run:
    """A notebook shows it as its report."""

    setup: Setup
    path: Path

    def __fspath__(self) -> str:
        """Takes the place of its path wherever a run is asked for."""
        return str(self.path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _repr_html_(self) -> str | None:
        return self.report()._repr_html_()

    def report(self, *, anchor: str | None = None, graders: Names = ()) -> Report:
        return numbers.report(self.setup, [self.path], anchor=anchor, graders=graders)

    def frame(self, grader: str = "", *, library: str = "") -> Any:
        """One row for each planned unit, as a DataFrame of pandas or polars, whichever is installed."""
        return frame_of(numbers.rows(self.setup, [self.path], grader), library)

    def units(self, part: str = "") -> list[UnitLine]:
        """Those that a name or a part of one can mean."""
        return show.units(self.setup, self.path, part)

    def episode(self, unit: str) -> EpisodeView:
        """A notebook shows it with its steps and pictures. `unit`: a name or a part that only one has."""
        return show.episode(self.setup, self.path, unit)


def open_recorded(setup: Setup, run: AnyPath) -> Run:
    """A run directory at hand: its report, its units as a DataFrame, its episodes."""
    with open_run(Path(run), setup.tell):  # what is no run is refused at once
        return Run(setup, Path(run))
