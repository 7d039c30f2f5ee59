"""The error model.

An evaluation is a long chain of things that break: a browser, a site, an agent, a model, a disk. A failure must never
turn into a score, so every error has a defined place.

*Errors are named after the boundary they crossed*, not after what went wrong inside. Code that calls the browser sees
`BrowserError`, code that reads the store sees `StoreError`. The types are flat: nothing catches a family of them.
`boundary(BrowserError)` is the one place where a foreign exception becomes one of ours; the original stays attached as
the cause.

*Whose fault it is decides what happens to the episode.*

- The agent answers for its own behavior. An action that cannot be performed is an `ActionError`, shown to the agent in
  its next observation, and the episode continues. If the agent raises, answers garbage or never stops, its episode ends
  with an `Ending` that says so; it is graded, and fails.
- We answer for the browser, the sites, the probes and the store: the episode ends as a **fault**. A fault is a value
  (`Fault`) that is stored, reported, and retried on the next run. It is never a 0.
- The user answers for bad input: an `InputError`, before anything starts. Its `hint` says what to do next; the command
  line prints both and nothing else.
- An unusable key (a task without checks, an unknown field) is a `TaskError` when it is loaded, not a failing task when
  it is graded.

*Ctrl-C is not an error.* `KeyboardInterrupt` and cancellation pass through every boundary untouched; finished work is
already in the store.
"""

import shlex
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Any, ClassVar, Self


class WebassayError(Exception):
    """Caught only at the edge (command line, episode); everything else catches a specific boundary."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


def to_install(extra: str) -> str:
    """The hint where a library is missing; it also works where no environment is active."""
    return f"Run: {shlex.quote(sys.executable)} -m pip install 'webassay[{extra}]'"


class InputError(WebassayError):
    """The user's command, file or setting is invalid."""


class TaskError(WebassayError):
    """A task file or answer key is invalid."""


class ActionError(WebassayError):
    """The agent's action could not be performed; the message is written for the agent."""


class AgentError(WebassayError):
    """The agent itself failed: it raised, answered garbage, or its process died."""

    def __init__(self, message: str, *, hint: str = "", trace: str = "") -> None:
        """`trace`: of the agent's own code, where that ran in another process."""
        super().__init__(message, hint=hint)
        self.trace = trace


class ModelError(WebassayError):
    """A language model could not be reached, or its reply was unusable."""


class BudgetError(WebassayError):
    """The spending limit was reached: stop cleanly and keep the results so far."""


class SameFaultError(WebassayError):
    """The same thing went wrong again and again: stop cleanly and keep the results so far."""


class BrowserError(WebassayError):
    """Chromium is missing, crashed, or stopped responding."""


class SiteError(WebassayError):
    """A site server died, or a world could not be reset or compared."""


class ProbeError(WebassayError):
    """Something that had to be recorded at the end of the episode could not be."""


class StoreError(WebassayError):
    """The run directory could not be read or written."""


class GradingError(WebassayError):
    """The grader could not read its evidence, so the verdict is neither pass nor fail."""


@dataclass(frozen=True)
class Fault:
    """A failure of ours or of an agent, as data: the boundary, the message, and a trace for debugging."""

    # Not a Record, although records contain it: `webassay --help` loads this module, and importing pydantic is slow.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    boundary: str
    message: str
    trace: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        origin = error
        while isinstance(origin, WebassayError) and origin.__cause__ is not None:
            origin = origin.__cause__
        message = str(error) or repr(error)
        if isinstance(origin, AgentError):
            # No line of our code says more than the message.
            return cls(boundary=type(error).__name__, message=message, trace=origin.trace[-4000:])
        found = traceback.TracebackException.from_exception(origin)
        if isinstance(error, AgentError):
            # Whoever wrote the agent looks for their own lines, not for those that called them.
            own = list(dropwhile(_is_ours, found.stack))
            found.stack = traceback.StackSummary.from_list(own or list(found.stack))
        found.stack = traceback.StackSummary.from_list(list(found.stack)[-_FRAMES:])
        return cls(boundary=type(error).__name__, message=message, trace="".join(found.format())[-4000:])


_FRAMES = 8
_OURS = (str(Path(__file__).parents[1]), str(Path(traceback.__file__).parent / "asyncio"))
"""This package, and what it calls agents through."""


def _is_ours(frame: traceback.FrameSummary) -> bool:
    return frame.filename.startswith(_OURS)


@contextmanager
def boundary(kind: type[WebassayError], doing: str) -> Iterator[None]:
    """Turns any foreign exception into `kind`, with a message that says what was being done; ours pass through."""
    try:
        yield
    except WebassayError:
        raise
    except Exception as error:
        detail = str(error).strip() or type(error).__name__
        raise kind(f"{doing}: {detail}") from error


@contextmanager
def blaming(kind: type[WebassayError], doing: str) -> Iterator[None]:
    """Like `boundary`, around code that users write in files of their own: the message names their line."""
    try:
        yield
    except WebassayError:
        raise
    except Exception as error:
        theirs = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame)]
        lines = [frame.lineno for frame in theirs if frame.filename == theirs[0].filename]
        where = f" ({Path(theirs[0].filename).name}, line {lines[-1]})" if theirs else ""
        raise kind(f"{doing}: {type(error).__name__}: {error}{where}") from error
