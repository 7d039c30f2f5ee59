"""HAR: the network log of a browser session. The pages that were loaded are its steps; nothing says what was wanted."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from webassay.core.errors import InputError
from webassay.core.text import well_formed
from webassay.core.trajectory import (
    AgentInfo,
    Blobs,
    Ending,
    Exchange,
    RecordedObservation,
    Step,
    Trajectory,
    WritableBlobs,
)
from webassay.importers.base import Importer
from webassay.importers.originals import write_files
from webassay.importers.reading import Source, goal, network_log

MOST_PAGES = 2000


def recognizes(place: Path) -> bool:
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
    write_files(folder, {f"{folder.name}.har": har_of(trajectory, blobs)})


def har_of(trajectory: Trajectory, blobs: Blobs) -> bytes:
    """The network log as a HAR file. Bodies of responses are not recorded, so it has none."""
    log = trajectory.network
    if log is None or log.format == "playwright-trace":
        raise InputError(f"{trajectory.id} has no network log that can be written as HAR.")
    if log.format == "har":
        return blobs.read(log.blob)
    start = _time(trajectory.started_at)
    with blobs.open(log.blob) as stream:
        entries = [entry_of(Exchange.model_validate_json(line), start) for line in stream if line.strip()]
    creator = {"name": "webassay", "version": "1"}
    return json.dumps({"log": {"version": "1.2", "creator": creator, "entries": entries}}).encode()


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def entry_of(one: Exchange, start: datetime) -> dict[str, Any]:
    posted: dict[str, Any] = {}
    if one.post_data is not None:
        data = base64.b64decode(one.post_data).decode("utf-8", "replace") if one.post_data_base64 else one.post_data
        posted = {"postData": {"mimeType": one.request_headers.get("content-type", ""), "text": data}}
    milliseconds = round((one.duration or 0.0) * 1000, 3)
    return {
        "startedDateTime": (start + timedelta(seconds=one.time)).isoformat(timespec="milliseconds"),
        "time": milliseconds,
        "_resourceType": one.resource_type,
        "request": {
            "method": one.method,
            "url": one.url,
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _named(one.request_headers),
            "queryString": [{"name": k, "value": v} for k, v in parse_qsl(urlsplit(one.url).query)],
            "headersSize": -1,
            "bodySize": -1,
            **posted,
        },
        "response": {
            "status": one.status or 0,
            "statusText": "",
            "httpVersion": "HTTP/1.1",
            "cookies": [],
            "headers": _named(one.response_headers),
            "content": {"size": -1, "mimeType": one.mime_type},
            "redirectURL": one.response_headers.get("location", ""),
            "headersSize": -1,
            "bodySize": -1,
            **({"_failureText": one.error} if one.error else {}),
        },
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
    }


def _named(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


HAR = Importer(
    name="har",
    summary="HAR: network logs, as trajectories of pages.",
    recognizes=recognizes,
    read=read,
    write=write,
)
