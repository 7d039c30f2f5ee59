"""The network log, step by step: who asked for what, when, and with which content."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from webassay.analysis.episode.view import RequestView, Traffic, cut, short_address
from webassay.core.errors import GradingError, boundary
from webassay.core.served import ServedRecord
from webassay.core.trajectory import Blobs, Trajectory
from webassay.grading.network.events import Event, events, is_static

MOST_REQUESTS = 600
MOST_CONTENT = 4_000
"""Characters of a body that are shown."""
BEFORE = -1
"""The step of what happened before the agent first looked."""


class StepClock:
    """Which step was under way at a moment of the network log's clock."""

    def __init__(self, trajectory: Trajectory) -> None:
        known = [(step.timing.at, step.index) for step in trajectory.steps if step.timing.at is not None]
        self._times = [time for time, _ in known]
        self._steps = [step for _, step in known]

    def step_at(self, time: float | None) -> int | None:
        """None where the episode does not say."""
        if time is None or not self._times:
            return None
        place = bisect_right(self._times, time)
        return self._steps[place - 1] if place else BEFORE


def traffic_of(trajectory: Trajectory, blobs: Blobs) -> Traffic | None:
    """Raises GradingError or StoreError where the log cannot be read."""
    log = trajectory.network
    if log is None:
        return None
    clock = StepClock(trajectory)
    requests: list[RequestView] = []
    total = left_out = 0
    with boundary(GradingError, "reading it"):
        for event in events(log, blobs):
            total += 1
            if is_static(event):
                continue
            made = _request(event, trajectory.bases, clock)
            # What could change something is worth more than what could not.
            if len(requests) < MOST_REQUESTS or (made.writes and len(requests) < 2 * MOST_REQUESTS):
                requests.append(made)
            else:
                left_out += 1
    return Traffic(tuple(requests), total, left_out)


def _request(event: Event, bases: Mapping[str, str], clock: StepClock) -> RequestView:
    time, details = _time_of(event), event.details
    return RequestView(
        method=event.method,
        place=short_address(event.url, bases),
        status=event.status,
        kind=event.resource_type,
        blocked=event.blocked,
        step=clock.step_at(time),
        at=time,
        seconds=getattr(event, "duration", None),
        sent=cut(details.post_text, MOST_CONTENT),
        received=cut(details.body, MOST_CONTENT),
        media_type=details.body_type,
        redirect=short_address(event.redirect, bases),
    )


def _time_of(event: Event) -> float | None:
    """Only our own log says when."""
    found = getattr(event, "time", None)
    return found if isinstance(found, float) else None


# --- what the sites recorded ----------------------------------------------------------------------------------


def steps_of_answers(
    trajectory: Trajectory, blobs: Blobs, records: Mapping[str, ServedRecord]
) -> dict[tuple[str, int], int]:
    """Site and place of an answer in its record, to the step that asked for it. The browser's requests and the site's
    answers come in the same order; what some other program asked for is in no step."""
    log = trajectory.network
    if log is None:
        return {}
    clock = StepClock(trajectory)
    asked: dict[tuple[str, str, str], deque[int | None]] = defaultdict(deque)
    for event in _logged(trajectory, blobs):
        for site, base in trajectory.bases.items():
            if event.url.startswith(base.rstrip("/") + "/"):
                path = event.url[len(base.rstrip("/")) :].partition("#")[0]
                asked[site, event.method, path].append(clock.step_at(_time_of(event)))
    found = {}
    for site, record in records.items():
        for place, answer in enumerate(record.served):
            waiting = asked.get((site, answer.method, answer.path))
            step = waiting.popleft() if waiting and answer.by != "other" else None
            if step is not None:
                found[site, place] = step
    return found


def _logged(trajectory: Trajectory, blobs: Blobs) -> Iterable[Event]:
    assert trajectory.network is not None
    with boundary(GradingError, "reading the network log"):
        return list(events(trajectory.network, blobs))
