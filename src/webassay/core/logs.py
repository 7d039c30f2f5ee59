"""Log folders of other people's harnesses: one folder a task, with the answer and the network log in it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LogLayout:
    """Where things are in a log folder, and at which addresses the sites were reached."""

    bases: Mapping[str, tuple[str, ...]]
    """Site to base URLs; a site that is missing here is looked for at its published port."""
    ports: Mapping[str, tuple[int, str]]
    """Site to the port and path that its published image listens at."""
    response_file: str = "agent_response.json"
    trace_file: str = "network.har"
