"""What can be had without looking at a site: naive answers, and what a model already knows (sections 3.3 and A.7).

`SR` is over all tasks, `SR vuln` over those whose key is satisfied by a part of the answer and asks for no page: the
paper's 176. Under keys of another kind, every task that asks for an answer is vulnerable.
"""

from collections.abc import Sequence

from webassay.analysis.benchmark.legacy import key_of
from webassay.analysis.numbers import stats
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.output import text
from webassay.analysis.output.document import Section
from webassay.core.record import Record
from webassay.core.report import Interval
from webassay.core.task import Task
from webassay.core.verdict import Status


class Guess(Record):
    """What one agent that did not look got for one task."""

    agent: str
    task: str
    template: str
    sites: tuple[str, ...]
    vulnerable: bool
    status: Status
    answer: str = ""


class AgentGuesses(Record):
    agent: str
    tasks: int
    undecided: int
    """What needs a model to compare, or a page that nobody recorded. They count as failures, as in the paper."""
    passed: int
    rate: Interval
    vulnerable: int
    passed_vulnerable: int
    rate_vulnerable: Interval
    macro: Interval
    """Mean over templates."""


class ContaminationResult(Record):
    benchmark: str
    lines: tuple[AgentGuesses, ...]
    union: Interval
    """Tasks that at least one of them passes."""
    sum_of_rates: float
    """The paper's 13.8 % is this: the sum of the agents' rates, and not their mean."""
    mean_of_rates: float
    guesses: tuple[Guess, ...]


def is_vulnerable(task: Task) -> bool:
    key = key_of(task)
    return task.kind == "retrieve" if key is None else key.includes is not None


def guessed(benchmark: str, guesses: Sequence[Guess]) -> ContaminationResult:
    agents = dict.fromkeys(guess.agent for guess in guesses)
    lines = [_line(agent, [guess for guess in guesses if guess.agent == agent]) for agent in agents]
    solved = {guess.task for guess in guesses if guess.status == "pass"}
    rates = [line.rate.value or 0.0 for line in lines]
    return ContaminationResult(
        benchmark=benchmark,
        lines=tuple(lines),
        union=interval(stats.wilson(len(solved), len({guess.task for guess in guesses}))),
        sum_of_rates=sum(rates),
        mean_of_rates=sum(rates) / len(rates) if rates else 0.0,
        guesses=tuple(guesses),
    )


def _line(agent: str, guesses: Sequence[Guess]) -> AgentGuesses:
    open_to_it = [guess for guess in guesses if guess.vulnerable]
    passed = sum(guess.status == "pass" for guess in guesses)
    by_luck = sum(guess.status == "pass" for guess in open_to_it)
    rates = stats.means_by((guess.template, float(guess.status == "pass")) for guess in guesses)
    return AgentGuesses(
        agent=agent,
        tasks=len(guesses),
        undecided=sum(guess.status not in ("pass", "fail") for guess in guesses),
        passed=passed,
        rate=interval(stats.wilson(passed, len(guesses))),
        vulnerable=len(open_to_it),
        passed_vulnerable=by_luck,
        rate_vulnerable=interval(stats.wilson(by_luck, len(open_to_it))),
        macro=interval(stats.mean_share(rates.values(), len(guesses))),
    )


def of_guessed(made: ContaminationResult) -> list[Section]:
    rows = [
        (line.agent, str(line.tasks), str(line.undecided), str(line.passed), text.with_bounds(line.rate),
         f"{line.passed_vulnerable} of {line.vulnerable}", text.with_bounds(line.rate_vulnerable),
         text.with_bounds(line.macro))
        for line in made.lines
    ]  # fmt: skip
    together = [
        ("passed by at least one", text.with_bounds(made.union)),
        ("sum of the rates", text.percent(made.sum_of_rates)),
        ("mean of the rates", text.percent(made.mean_of_rates)),
    ]
    passed = [(guess.task, guess.agent, guess.answer[:120]) for guess in made.guesses if guess.status == "pass"]
    return [
        Section(
            "Without looking",
            ("agent", "tasks", "undecided", "passed", "SR", "of vulnerable", "SR vuln", "template-macro"),
            rows,
            "Nothing was played: an answer at once, no page opened, nothing changed. What could not be decided counts "
            "as a failure.",
        ),
        Section("Together", ("figure", "value"), together),
        Section("What was passed", ("task", "agent", "answer"), passed),
    ]
