"""An application of somebody else's: how it is started, reset, asked for its state, and judged.

It is written down in a file `app.toml` in its own folder; docs/served.md shows a whole one.
"""

import shlex
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, model_validator

from webassay.core.errors import InputError
from webassay.core.files import leads_out, read_regular
from webassay.core.record import Record, blob_hash

FILE = "app.toml"


class Application(Record):
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """The site's name in tasks and reports."""
    start: str
    """The command that starts it, in its own folder; `{port}` stands for the port."""
    ready: str = "/"
    """A path that answers once it is up."""
    reset: str = ""
    """The request that puts everything back, such as `POST /reset`."""
    reset_command: str = ""
    """A command that does so, in the folder; `{url}` and `{port}` are known."""
    state: str = ""
    """A path that answers with the whole state as JSON; empty: it cannot be asked."""
    state_from_page: bool = False
    """The first page that is opened brings the data with it: there is no state before."""
    clock: str = ""
    """Where the page's clock starts, such as `2026-03-01T12:00:00`; empty: the real time."""
    journal: tuple[str, ...] = ()
    """Fields of the state that no task is about, besides time stamps and counters."""
    hidden: tuple[str, ...] = ()
    """Files that the application must not be able to serve: it then runs in a copy of its folder without them."""
    start_seconds: float = Field(default=30.0, gt=0)
    answer_seconds: float = Field(default=10.0, gt=0)
    verify_seconds: float = Field(default=60.0, gt=0)
    quiet_seconds: float = Field(default=1.0, ge=0)
    """How long the state must stay as it is before it is looked at: pages save late."""

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        if "{port}" not in self.start:
            raise ValueError("start has no {port}, so only one copy could run at a time")
        for command in filter(None, (self.start, self.reset_command)):
            if not shlex.split(command):
                raise ValueError("a command is empty")
        if self.reset and self.reset_command:
            raise ValueError("give reset or reset_command, not both")
        if self.reset:
            method, _, path = self.reset.partition(" ")
            if not method.isupper() or not path.startswith("/"):
                raise ValueError("reset must look like `POST /reset`")
        if self.clock:
            _ = self.now_ms
        return self

    @property
    def now_ms(self) -> int | None:
        if not self.clock:
            return None
        moment = datetime.fromisoformat(self.clock)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


class ApplicationTask(Record):
    """One of the tasks in the file."""

    id: str = Field(pattern=r"^[\w.-]+$")
    goal: str
    verify: str
    """A Python file with `verify(server_url)`, or a command with `{url}` that ends with 0 or 1."""
    page: str = "/"
    """Where the agent starts."""
    may_change: tuple[str, ...] | None = None
    """The parts of the state that the task is about; a change elsewhere fails. None: changes are only reported."""
    template: str = ""
    difficulty: str = ""
    max_steps: int = Field(default=30, ge=1, le=1000)


class ApplicationFile(Record):
    application: Application
    tasks: tuple[ApplicationTask, ...]


def is_python(program: str) -> bool:
    """Whether a verifier is a Python file and not a command."""
    return program.endswith(".py") and " " not in program


def source_of(folder: Path, program: str) -> str:
    """The hash of a verifier's file; a command has none."""
    if not is_python(program):
        return ""
    if leads_out(folder / program, folder):
        raise InputError(f"The verifier {program} is not in {folder}.")
    return blob_hash(read_regular(folder / program, hint="Give its path relative to the folder."))


def read_application(folder: Path) -> ApplicationFile:
    path = folder / FILE if folder.is_dir() else folder
    try:
        given = tomllib.loads(read_regular(path, hint="docs/served.md shows how to write one.").decode())
        tasks = given.pop("tasks", [])
        return ApplicationFile.model_validate({"application": given, "tasks": tasks})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {place}: {first['msg']}.", hint="docs/served.md explains every entry.") from error
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
