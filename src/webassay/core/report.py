"""A report: numbers with their intervals and the counts behind them. Made from rows, rendered by `analysis`."""

from collections.abc import Callable
from typing import ClassVar, Literal

from pydantic import Field

from webassay.core.record import Json, Record


class Interval(Record):
    """A number that cannot be computed is None, which is not 0. No interval of a share leaves 0 and 1."""

    value: float | None
    low: float | None = None
    high: float | None = None
    units: int
    """How many independent units there are: templates, websites or episodes, as `method` implies."""
    method: str


class Counts(Record):
    """What became of the work that was planned. `passed + failed + abstained + faulted + missing == planned`."""

    planned: int
    passed: int
    failed: int
    abstained: int
    faulted: int
    missing: int

    @property
    def attempted(self) -> int:
        return self.planned - self.missing

    @property
    def scored(self) -> int:
        return self.passed + self.failed


class Success(Record):
    """Success of one agent on one set of units."""

    counts: Counts
    templates: int
    """With at least one scored unit."""
    macro: Interval
    """Primary: mean over templates, with its interval over templates. Of scored units."""
    worst: Interval
    """The same with every unit that has no verdict taken as a failure."""
    micro: Interval
    """Share of scored units, Wilson's interval."""

    @property
    def complete(self) -> bool:
        return self.counts.scored == self.counts.planned


class ReportedGrouping(Record):
    """A way in which the results are taken apart, as `core.groupings` or a plug-in declares it."""

    name: str
    title: str
    shown_alone: bool = False


class Group(Record):
    """Success on one part of the tasks, such as one site or one chore type. A task can be in several."""

    dimension: str
    """The name of the grouping."""
    name: str
    success: Success
    checkpoint_reach: Interval | None = None


class Spread(Record):
    """A quantity over episodes. `known` says how many of them it is known for."""

    known: int
    total: float
    mean: float | None
    median: float | None
    p90: float | None


class Efficiency(Record):
    steps: Spread
    seconds: Spread
    input_tokens: Spread
    output_tokens: Spread
    cost_usd: Spread
    cost_per_success: float | None
    """Dollars of all episodes of known cost per success; None without either."""


class Tally(Record):
    """How often something occurred, and in how many episodes."""

    name: str
    count: int
    episodes: int


class Behavior(Record):
    """What the agent did, whether or not it succeeded (the paper's A.2)."""

    actions: tuple[Tally, ...]
    families: dict[str, float]
    """Share of actions that were mouse, keyboard, navigation, or else."""
    tools: tuple[Tally, ...]
    endings: dict[str, int]
    action_errors: int
    episodes_with_errors: int
    retries: int
    """Steps that came after a failed one."""
    retries_that_worked: int
    recovered_episodes: Interval
    """Share of episodes with a failed action that passed all the same."""


class FailureMode(Record):
    check: str
    code: str
    count: int
    episodes: int


class Process(Record):
    """How well the work was done, whatever came of it: the score of judges that give one, from 0 to 1."""

    mean: Interval
    """Template-macro, with its interval over templates."""
    good: Interval
    """Share of scored episodes that reach the threshold, Wilson's interval."""
    threshold: float


class ErrorCount(Record):
    """How often an error of one kind was diagnosed."""

    taxonomy: str
    code: str
    """For a category its number (`2`), for an error its whole code (`2.1`)."""
    name: str
    count: int
    episodes: int
    rate: float
    """Errors per diagnosed episode, as in the verifier paper's Table 9; one episode can have several."""


class Diagnosis(Record):
    """What a judge says went wrong, over every episode that it diagnosed, successes included."""

    episodes: int
    with_errors: int
    categories: tuple[ErrorCount, ...]
    codes: tuple[ErrorCount, ...]
    first_step: Spread
    """The first step that went wrong, counted from 1."""


class Parsing(Record):
    """Answers that could not be read as they came, and those that still could not be after recovery."""

    answers: int
    unreadable_before: Interval
    unreadable_after: Interval


class Trials(Record):
    """Over tasks with at least k scored trials."""

    k: int
    tasks: int
    at_least_one: Interval
    """pass@k"""
    every: Interval
    """pass^k"""


class RefusalAttempt(Record):
    """One run on an unachievable task."""

    task_id: str
    site: str
    steps: int
    ratio: float | None
    """Steps over the median steps of successful feasible runs on that site; None where there are none."""
    credited: bool
    adequate: bool | None


class UsualEffort(Record):
    """Steps of the successful runs of feasible tasks on one site, all agents together."""

    site: str
    runs: int
    lower: float
    median: float
    upper: float
    """The quartiles on both sides of the median."""


class Exploration(Record):
    """Did the agent look before it said that a task cannot be done (section 3.2)?"""

    threshold: float
    attempts: tuple[RefusalAttempt, ...]
    """The first few hundred; `over_acceptance` is of all of them."""
    credited: int
    inadequate: int
    undecided: int
    """Credited, on a site without a successful feasible run to compare with."""
    over_acceptance: Interval


class AgentReport(Record):
    name: str
    model: str = ""
    success: Success
    bootstrap: Interval
    """The check beside the interval: cluster bootstrap over templates."""
    site_macro: Interval
    checkpoint_reach: Interval | None
    templates: dict[str, float]
    """Template to success rate over its scored units."""
    groups: tuple[Group, ...]
    efficiency: Efficiency
    behavior: Behavior
    failures: tuple[FailureMode, ...]
    parsing: Parsing | None
    trials: tuple[Trials, ...]
    exploration: Exploration | None
    baseline: bool = False
    """A naive or knowledge-only agent: what it gets is contamination or a weak grader, not skill."""
    process: Process | None = None
    diagnosis: Diagnosis | None = None


class Comparison(Record):
    """Test minus anchor over the tasks that both have a score for, paired by template."""

    agent: str
    anchor: str
    difference: Interval
    p_value: float | None
    p_adjusted: float | None
    """Holm's correction over all comparisons of this report."""
    tasks: int
    tasks_left_out: int
    """Scored for one of the two only."""
    identical_tasks: bool
    identical_templates: bool
    templates_to_see_3_points: int | None
    """How many templates would show a difference of 3 points with power 0.8, by the spread seen here."""
    warnings: tuple[str, ...] = ()


class Frontier(Record):
    """Agents that no other beats on both success and cost."""

    measure: Literal["cost_usd", "steps"]
    """Steps where the cost of some agent is not known."""
    costs: dict[str, float]
    """Agent to mean cost of an episode."""
    agents: tuple[str, ...]


class Contamination(Record):
    """What the naive and knowledge-only agents get together: an upper bound of success without work."""

    members: tuple[str, ...]
    mean: Interval
    """Mean of their template-macro successes (appendix C); no interval, since they are not a sample."""
    union: Interval
    """Share of tasks that at least one of them passes, Wilson's interval."""
    solved: tuple[str, ...]
    """Those tasks."""


class Grading(Record):
    """Under which grader, and with which keys, an agent's verdicts were made."""

    agent: str
    fingerprint: str
    units: int
    label: str = ""
    """The rater's label, for people."""


class GraderOpinion(Record):
    """What one grader makes of one agent's episodes."""

    grader: str
    agent: str
    success: Success
    process: Process | None = None
    diagnosis: Diagnosis | None = None


class Concord(Record):
    """Two graders on the same episodes."""

    first: str
    second: str
    both_pass: int
    only_first_passes: int
    only_second_passes: int
    both_fail: int
    undecided: int
    """Played episodes that at least one of the two did not call a pass or a failure."""
    same: Interval
    """Share of the episodes that both decided, Wilson's interval."""
    kappa: Interval
    """Cohen's; cluster bootstrap over tasks."""


def is_reference(agent: str) -> bool:
    """It plays the solutions: what it shows is that the tasks can be done. Nobody else's agent can have this name."""
    return agent.partition("[")[0] == "oracle"


class Report(Record):
    version: Literal[1] = 1
    title: str = ""
    benchmarks: tuple[str, ...]
    counts: Counts
    tasks: int
    templates: int
    agents: tuple[AgentReport, ...]
    groupings: tuple[ReportedGrouping, ...] = ()
    """In the order in which they are shown."""
    anchor: str = ""
    comparisons: tuple[Comparison, ...] = ()
    frontier: Frontier | None = None
    usual_effort: tuple[UsualEffort, ...] = ()
    """What explorations are held against, by site."""
    contamination: Contamination | None = None
    gradings: tuple[Grading, ...] = ()
    grader: str = ""
    """The label of the grader behind all numbers but the opinions."""
    opinions: tuple[GraderOpinion, ...] = ()
    """Several graders on the same episodes; empty if the report knows only one."""
    concords: tuple[Concord, ...] = ()
    warnings: tuple[str, ...] = ()
    """What a reader must know before believing the numbers."""
    facts: dict[str, Json] = Field(default_factory=dict)
    """Anything the maker of the report wants printed beside it: run ids, versions, seeds."""

    in_notebook: ClassVar[Callable[["Report"], str | None]] = lambda report: None
    """Set by `analysis`, which knows how a report looks."""

    def _repr_html_(self) -> str | None:
        return self.in_notebook()
