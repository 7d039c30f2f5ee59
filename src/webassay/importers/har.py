"""HAR: the network log of a browser session. The pages that were loaded are its steps; nothing says what was wanted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webassay.core.errors import InputError
from webassay.core.text import well_formed
from webassay.core.trajectory import AgentInfo, Blobs, Ending, RecordedObservation, Step, Trajectory, WritableBlobs
from webassay.importers.base import Importer
from webassay.importers.originals import write_files
from webassay.importers.reading import Source, goal, network_log

MOST_PAGES = 2000


def recognises(place: Path) -> bool:
    return place.suffix == ".har" and place.is_file()


def read(path: Path, blobs: WritableBlobs) -> Trajectory:
    log, entries = network_log(Source(path.parent), path.name, blobs)
    pages = [url for entry in entries if (url := _page(entry))][:MOST_PAGES]
    name = well_formed(path.name)
    return Trajectory(
        id="",
        task_id=well_formed(path.stem),
        benchmark="har",
        goal=goal(f"A recorded session; {name} does not say what it was for.", next(iter(pages), "")),
        agent=AgentInfo(name="unknown"),
        started_at=str(entries[0].get("startedDateTime") or "") if entries else "",
        steps=tuple(Step(index=i, seen=RecordedObservation(url=url)) for i, url in enumerate(pages[:-1])),
        last_seen=RecordedObservation(url=pages[-1]) if pages else None,
        ending=Ending(kind="imported"),
        network=log,
        source="har",
        provenance={"file": name},
    )


def _page(entry: Mapping[str, Any]) -> str:
    """The address, if the entry is a page that a person would have seen."""
    request, response = entry.get("request"), entry.get("response")
    if not isinstance(request, dict) or not isinstance(response, dict):
        return ""
    content, status = response.get("content"), response.get("status")
    kind = str(content.get("mimeType") or "") if isinstance(content, dict) else ""
    seen = kind.startswith("text/html") and isinstance(status, int) and (200 <= status < 300 or status >= 400)
    return str(request.get("url") or "") if seen else ""


def write(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    if trajectory.network is None or trajectory.network.format != "har":
        raise InputError(f"{trajectory.id} has no HAR file.", hint="Only what was imported with one can be written.")
    write_files(folder, {f"{folder.name}.har": blobs.read(trajectory.network.blob)})


HAR = Importer(
    name="har",
    summary="HAR: network logs, as trajectories of pages.",
    recognises=recognises,
    read=read,
    write=write,
)
