"""What an importer is, and how a folder is searched for trajectories.

`read` gets one place and returns one trajectory with an empty `id`, which `import_all` sets to a hash of the content
and of the place relative to the folder the user named: the same download has the same ids on any machine, and equal
runs of one task do not share one. What people and published judges said comes from beside it (`verdicts`), or from
files that name tasks and agents (`claims`), matched when all trajectories are there.
"""

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from webassay.core.errors import InputError, boundary
from webassay.core.record import content_hash
from webassay.core.trajectory import Blobs, Trajectory, WritableBlobs
from webassay.core.verdict import Verdict
from webassay.importers.reading import har_in, printable


class ImportedRun(NamedTuple):
    """A trajectory, and what its data set says of it."""

    trajectory: Trajectory
    verdicts: tuple[Verdict, ...] = ()
    """Without a trajectory id, which is unknown while reading."""
    part: str = ""
    """Where in the file it stood, if a file holds several."""


class LooseVerdict(NamedTuple):
    """A verdict from a file that is not beside the trajectory; whatever it names must be the same there."""

    task_id: str
    verdict: Verdict
    agent: str = ""
    benchmark: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class Importer:
    """One format of other people's trajectories."""

    name: str
    summary: str
    recognizes: Callable[[Path], bool]
    """Whether this folder or file is one trajectory in this format. Looks at names and first bytes only."""
    read: Callable[[Path, WritableBlobs], Trajectory]
    """Refuses with an `InputError` that names the file; pictures and page trees become blobs."""
    write: Callable[[Trajectory, Blobs, Path], None] | None = None
    """Writes one trajectory into a new folder; None if the format cannot be written."""
    folder: Callable[[Trajectory], str] | None = None
    """Where that folder lies in the output, if its readers expect a certain name; None: it is called as the unit is."""
    read_many: "Callable[[Path, WritableBlobs, OnError], Iterator[ImportedRun | LooseVerdict]] | None" = None
    """For files that hold several items, in place of `read`; one that is damaged is reported and skipped."""
    verdicts: Callable[[Path], Iterable[Verdict]] | None = None
    """What lies beside the trajectory and says how good it is."""
    claims: Callable[[Path], Iterable[LooseVerdict]] | None = None
    """Reads a file that `recognizes_claims`."""
    recognizes_claims: Callable[[Path], bool] | None = None


OnError = Callable[[Path, InputError], None]


def many_only(place: Path, blobs: WritableBlobs) -> Trajectory:
    """The `read` of an importer whose files hold several items."""
    raise InputError(f"{printable(place)} holds several trajectories.", hint="Import it with `webassay import`.")


def import_all(
    path: Path,
    blobs: WritableBlobs,
    importers: Iterable[Importer],
    format: str | None = None,
    on_error: OnError | None = None,
) -> Iterator[Trajectory]:
    """Every trajectory at or below `path`, in order of their paths, without what was said of them."""
    for found in import_items(path, blobs, importers, format, on_error):
        if isinstance(found, ImportedRun):
            yield found.trajectory


def import_items(
    path: Path,
    blobs: WritableBlobs,
    importers: Iterable[Importer],
    format: str | None = None,
    on_error: OnError | None = None,
) -> Iterator[ImportedRun | LooseVerdict]:
    """Every trajectory and claim at or below `path`, in order of their paths. `format` restricts the search to one
    importer. `on_error` reports what cannot be read, which else ends the import."""
    known = {importer.name: importer for importer in importers}
    if format is not None and format not in known:
        raise InputError(f"There is no import format {format!r}.", hint=f"Known: {', '.join(known)}.")
    if path.name in ("", ".."):  # `.` has no name of its own, and readers take the folder's name for the task's
        path = path.resolve()
    wanted = tuple(known.values()) if format is None else (known[format],)
    reported = False

    def report(place: Path, error: InputError) -> None:
        nonlocal reported
        reported = True
        if on_error is None:
            raise error
        on_error(place, error)

    for place, fitting in _places(path, wanted, named=format is not None, report=report):
        reported = True
        try:
            for found in _read(place, fitting, blobs, report):
                if isinstance(found, ImportedRun):
                    with boundary(InputError, f"{printable(place)} cannot be stored"):
                        named = with_id(found.trajectory, _relative(place, path) + found.part)
                    found = found._replace(trajectory=named)
                yield found
        except InputError as error:
            report(place, error)
    if not reported:
        raise InputError(
            f"No trajectory was found in {printable(path)}.",
            hint=f"Looked for {', '.join(importer.name for importer in wanted)}. "
            "docs/importing.md lists the files each format needs.",
        )


def with_id(trajectory: Trajectory, place: str) -> Trajectory:
    """The trajectory with its id: a hash of everything it holds and of where it was found."""
    content = trajectory.model_copy(update={"id": ""}).model_dump(mode="json")
    digest = content_hash([content, place]).removeprefix("sha256:")
    task = re.sub(r"[^A-Za-z0-9._-]+", "_", trajectory.task_id)[:60]
    return trajectory.model_copy(update={"id": f"{trajectory.source}-{task}-{digest[:16]}"})


def _relative(place: Path, path: Path) -> str:
    return (Path(path.resolve().name) / place.relative_to(path)).as_posix()


def _places(
    path: Path, importers: Sequence[Importer], *, named: bool, report: OnError
) -> Iterator[tuple[Path, Sequence[Importer]]]:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"{printable(path)} does not exist.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{printable(path)} cannot be read: {error}.") from None
    if stat.S_ISDIR(mode):
        yield from _below(path, importers, report)
    elif not stat.S_ISREG(mode):
        raise InputError(f"{printable(path)} is neither a folder nor a regular file.")
    elif named:  # the user says what it is
        yield path, importers
    elif fitting := _recognized(path, importers, report):
        yield path, fitting


def _below(top: Path, importers: Sequence[Importer], report: OnError) -> Iterator[tuple[Path, Sequence[Importer]]]:
    waiting = [top]  # not recursion: folders can be nested more deeply than calls
    while waiting:
        place = waiting.pop()
        if fitting := _recognized(place, importers, report):
            yield place, fitting
        elif place.is_dir():
            try:
                # Symbolic links may lead anywhere, even back to where the search came from.
                entries = [item for item in place.iterdir() if not item.is_symlink()]
            except OSError as error:
                report(place, InputError(f"{printable(place)} cannot be read: {error.strerror}."))
                continue
            waiting += sorted((item for item in entries if item.is_dir() or item.is_file()), reverse=True)


def _recognized(place: Path, importers: Sequence[Importer], report: OnError) -> list[Importer]:
    try:
        with boundary(InputError, f"{printable(place)} cannot be read"):
            return [importer for importer in importers if importer.recognizes(place) or _claims(importer, place)]
    except InputError as error:
        report(place, error)
        return []


def _claims(importer: Importer, place: Path) -> bool:
    return importer.recognizes_claims is not None and importer.recognizes_claims(place)


def _read(
    place: Path, fitting: Sequence[Importer], blobs: WritableBlobs, report: OnError
) -> Iterator[ImportedRun | LooseVerdict]:
    if len(fitting) > 1:
        formats = " or ".join(importer.name for importer in fitting)
        raise InputError(
            f"{printable(place)} could be {formats}.", hint="Name the format: `webassay import --format NAME`."
        )
    (importer,) = fitting
    with boundary(InputError, f"{printable(place)} cannot be read as {importer.name}"):
        if _claims(importer, place):
            assert importer.claims is not None
            yield from list(importer.claims(place))
        elif importer.read_many is not None:
            for found in importer.read_many(place, blobs, report):
                if isinstance(found, ImportedRun):
                    found.trajectory.to_json()
                yield found
        else:
            trajectory = importer.read(place, blobs)
            if trajectory.network is None and place.is_dir():
                trajectory = trajectory.model_copy(update={"network": har_in(place, blobs)})
            trajectory.to_json()  # an importer that lets unstorable text through fails here, on its own item
            yield ImportedRun(trajectory, tuple(importer.verdicts(place)) if importer.verdicts else ())
