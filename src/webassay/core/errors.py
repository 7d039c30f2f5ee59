"""The error model.

An evaluation is a long chain of other people's machines: a browser, a site, an agent, a model, a disk.
What must never happen is that a break in that chain turns into a score. So every error has a place:

*Errors are named after the boundary they crossed*, not after what went wrong inside. Whoever calls
the browser sees `BrowserError`, whoever reads the store sees `StoreError`. The types are flat: nobody
catches a family. `boundary(BrowserError)` is the one place where a foreign exception becomes one
of ours; the original stays attached as the cause.

*Who is to blame decides what becomes of the episode.*

- The agent is to blame for what it does: an action that cannot be carried out is an `ActionError`,
  shown to the agent in its next observation, and the episode goes on. An agent that raises, answers
  garbage or never stops ends its episode with an `Ending` that says so; the episode is graded, and fails.
- We are to blame for the browser, the sites, the probes, the store: the episode ends as a **fault**.
  A fault is a value (`Fault`), it is stored, reported, and retried on the next run. It is never a 0.
- The user is to blame for bad input: `InputError`, before anything starts. Every one carries a `hint`
  that says what to do next, and the command line prints both and nothing else.
- A key that cannot be used (a task without checks, an unknown field) is a `TaskError` at load time, not
  a failing task at grading time.

*Ctrl-C is not an error.* `KeyboardInterrupt` and cancellation pass through every boundary untouched;
what was finished is already in the store.
"""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self


class WebassayError(Exception):
    """Only ever caught at the edge (command line, episode); everything else catches a boundary."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class InputError(WebassayError):
    """The user's command, file or setting cannot be used."""


class TaskError(WebassayError):
    """A task file or an answer key cannot be used."""


class ActionError(WebassayError):
    """The agent's action could not be carried out; the message is written for the agent to read."""


class AgentError(WebassayError):
    """The agent itself broke: it raised, answered nonsense, or its process died."""


class ModelError(WebassayError):
    """A language model could not be asked, or its reply could not be used."""


class BudgetError(WebassayError):
    """The spend cap was reached: stop cleanly, keep what is there."""


class BrowserError(WebassayError):
    """Chromium is missing, crashed, or stopped answering."""


class SiteError(WebassayError):
    """A site server died, or a world could not be reset or compared."""


class ProbeError(WebassayError):
    """What a task asks to be looked at could not be looked at."""


class StoreError(WebassayError):
    """The run directory could not be read or written."""


class GradingError(WebassayError):
    """The grader could not read its evidence: neither pass nor fail."""


@dataclass(frozen=True)
class Fault:
    """A break of ours, as data: which boundary, what it said, and where, for whoever mends it."""

    # Not a Record, though records hold it: this module is loaded by `webassay --help`, and pydantic takes its time.
    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}

    boundary: str
    message: str
    trace: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        trace = "".join(traceback.format_exception(error, limit=-8))
        return cls(boundary=type(error).__name__, message=str(error) or repr(error), trace=trace[-4000:])


@contextmanager
def boundary(kind: type[WebassayError], doing: str) -> Iterator[None]:
    """Whatever foreign exception escapes becomes `kind`, saying what was being done; ours pass through."""
    try:
        yield
    except WebassayError:
        raise
    except Exception as error:
        detail = str(error).strip() or type(error).__name__
        raise kind(f"{doing}: {detail}") from error
