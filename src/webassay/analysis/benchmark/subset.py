"""A smaller benchmark that ranks agents as the whole one does: the Hard procedure of section 4.5 and appendix H.

Three steps. Tasks on one contaminated site are removed (the paper: the map). The others are classed by how many
agents solve them; only hard ones stay. Of those a share is drawn evenly over the templates, and every task that
spans several sites is added back whatever its class.

The paper prints two confidence levels for the classing, 95 % in section 4.5 and z = 1.282 in appendix H; both are
here, and the sensitivity grid says how many tasks change their class between them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Literal

import numpy as np

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.output.document import Document, Section
from webassay.analysis.output.text import percent, plain_interval
from webassay.core.errors import InputError
from webassay.core.record import Record
from webassay.core.report import Interval

Difficulty = Literal["easy", "near easy", "hard", "unknown"]
Task = tuple[str, str]
"""Benchmark and task id."""
Outcomes = Mapping[Task, Mapping[str, bool]]
"""Task to agent to whether it was solved."""


class Procedure(Record):
    z: float = 1.959963984540054
    """For the Wilson lower bound; 1.96 is the 95 % of the text, 1.282 the 80 % of the appendix."""
    minimum_coverage: int = 4
    """Agents with a score; a task with fewer has no class and is left out."""
    easy_threshold: float = 0.5
    near_easy_rate: float = 0.85
    near_easy_coverage: int = 5
    removed_sites: tuple[str, ...] = ("map",)
    """Tasks on one of these alone are removed."""
    size: int | None = None
    """How many tasks at most; None keeps every hard one. Tasks on several sites are never left out."""
    seed: int = 0


TEXT = Procedure()
APPENDIX = Procedure(z=1.282)


class GridPoint(Record):
    """One place of the sensitivity grid."""

    z: float
    easy_threshold: float
    hard: int
    flipped: float
    """Share of classed tasks that are easy here and hard in the procedure, or the other way round."""


class Subset(Record):
    procedure: Procedure
    tasks: tuple[str, ...]
    classes: dict[str, Difficulty]
    counts: dict[str, int]
    """Tasks per class, and `removed`, `several sites`, `all`."""
    hard_in_text: int
    hard_in_appendix: int
    templates: int
    templates_of_all: int
    grid: tuple[GridPoint, ...]
    ranking: Interval
    """Kendall's tau-b between the rankings on all tasks and on the subset; bootstrap over templates."""
    ranked_agents: tuple[str, ...]
    """Those with a score for nearly every task that stays after step one: more agents would leave fewer tasks."""
    ranked_tasks: int
    """How many tasks all of them have a score for; both rankings are over these alone, so that like is compared."""
    saved: dict[str, float]
    """Share of tasks, seconds and dollars that the subset does without."""


NEARLY_EVERY = 0.9
"""A run has its faults; an agent that lacks more than a tenth of the tasks is not ranked."""
GRID_Z = (1.0, 1.282, 1.645, 1.959963984540054, 2.576)
GRID_THRESHOLD = (0.3, 0.4, 0.5, 0.6, 0.7)


def classify(successes: int, observed: int, procedure: Procedure = TEXT) -> Difficulty:
    """The rule for one task, from how many agents solved it."""
    if observed < procedure.minimum_coverage:
        return "unknown"
    bound = stats.wilson(successes, observed, z=procedure.z).low
    if bound is not None and bound >= procedure.easy_threshold:
        return "easy"
    unanimous = successes == observed
    often = successes / observed >= procedure.near_easy_rate and observed >= procedure.near_easy_coverage
    return "near easy" if unanimous or often else "hard"


def select(rows: Sequence[ResultRow], procedure: Procedure = TEXT) -> Subset:
    """From runs of several agents; a task that an agent tried more than once is solved when most trials are."""
    rows = [row for row in rows if not row.baseline]
    about = {row.task: row for row in rows}
    if not about:
        raise InputError("There are no runs to choose a subset from.", hint="Give run directories of several agents.")
    outcomes = _outcomes(rows)
    kept = {task: row for task, row in about.items() if not _removed(row, procedure)}
    classes = {task: _class(task, outcomes, procedure) for task in kept}
    if set(classes.values()) == {"unknown"}:
        most = max(len(outcomes.get(task, {})) for task in kept)
        raise InputError(
            f"No task has a score of {procedure.minimum_coverage} agents, at most of {most}: none can be called hard.",
            hint="Give the runs of more agents; naive and knowledge-only ones do not count.",
        )
    chosen = _chosen(kept, classes, procedure)
    agents = _nearly_complete(outcomes, kept)
    counts = Counter(classes.values())
    return Subset(
        procedure=procedure,
        tasks=tuple(task for _, task in chosen),
        classes={task[1]: difficulty for task, difficulty in classes.items()},
        counts={
            "all": len(about),
            "removed": len(about) - len(kept),
            "several sites": sum(len(row.sites) > 1 for row in kept.values()),
            **{name: counts[name] for name in ("easy", "near easy", "hard", "unknown")},
        },
        hard_in_text=_hard(kept, outcomes, procedure.model_copy(update={"z": TEXT.z})),
        hard_in_appendix=_hard(kept, outcomes, procedure.model_copy(update={"z": APPENDIX.z})),
        templates=len({about[task].cluster for task in chosen}),
        templates_of_all=len({row.cluster for row in about.values()}),
        grid=_grid(kept, outcomes, procedure),
        ranking=_ranking(about, outcomes, chosen, agents, procedure.seed),
        ranked_agents=agents,
        ranked_tasks=sum(_tried_by_all(outcomes, task, agents) for task in about) if agents else 0,
        saved=_saved(rows, set(chosen)),
    )


# --- the three steps ------------------------------------------------------------------------------------


def _outcomes(rows: Sequence[ResultRow]) -> dict[Task, dict[str, bool]]:
    scores: dict[Task, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.score is not None:
            scores[row.task][row.agent].append(row.score)
    return {
        task: {agent: sum(own) / len(own) > 0.5 for agent, own in agents.items()} for task, agents in scores.items()
    }


def _removed(row: ResultRow, procedure: Procedure) -> bool:
    return len(row.sites) == 1 and row.sites[0] in procedure.removed_sites


def _class(task: Task, outcomes: Outcomes, procedure: Procedure) -> Difficulty:
    solved = outcomes.get(task, {})
    return classify(sum(solved.values()), len(solved), procedure)


def _chosen(kept: Mapping[Task, ResultRow], classes: Mapping[Task, Difficulty], procedure: Procedure) -> list[Task]:
    """In the order of the benchmark."""
    always = {task for task, row in kept.items() if len(row.sites) > 1}
    strata: dict[tuple[str, str], list[Task]] = defaultdict(list)
    for task, row in kept.items():
        if task not in always and classes[task] == "hard":
            strata[row.cluster].append(task)
    places = sum(map(len, strata.values())) if procedure.size is None else max(0, procedure.size - len(always))
    drawn = set(_round_robin(list(strata.values()), places, procedure.seed))
    return [task for task in kept if task in always or task in drawn]


def _round_robin(strata: list[list[Task]], places: int, seed: int) -> list[Task]:
    """One of each template before a second of any; templates and tasks in a drawn order."""
    random = np.random.default_rng(seed)
    shuffled = [[stratum[i] for i in random.permutation(len(stratum))] for stratum in strata]
    order = random.permutation(len(shuffled))
    rounds = max(map(len, shuffled), default=0)
    taken = [shuffled[i][turn] for turn in range(rounds) for i in order if turn < len(shuffled[i])]
    return taken[:places]


# --- is it any good -------------------------------------------------------------------------------------


def _hard(kept: Mapping[Task, ResultRow], outcomes: Outcomes, procedure: Procedure) -> int:
    return sum(_class(task, outcomes, procedure) == "hard" for task in kept)


def _grid(kept: Mapping[Task, ResultRow], outcomes: Outcomes, procedure: Procedure) -> tuple[GridPoint, ...]:
    base = {task: _class(task, outcomes, procedure) for task in kept}
    classed = [task for task, difficulty in base.items() if difficulty != "unknown"]
    cells = []
    for z in GRID_Z:
        for threshold in GRID_THRESHOLD:
            other = procedure.model_copy(update={"z": z, "easy_threshold": threshold})
            hard = {task for task in classed if _class(task, outcomes, other) == "hard"}
            flipped = sum((base[task] == "hard") != (task in hard) for task in classed)
            share = flipped / len(classed) if classed else 0.0
            cells.append(GridPoint(z=z, easy_threshold=threshold, hard=len(hard), flipped=share))
    return tuple(cells)


def _nearly_complete(outcomes: Outcomes, kept: Mapping[Task, ResultRow]) -> tuple[str, ...]:
    tried = Counter(agent for task in kept for agent in outcomes.get(task, {}))
    agents = dict.fromkeys(agent for solved in outcomes.values() for agent in solved)
    return tuple(agent for agent in agents if tried[agent] >= NEARLY_EVERY * len(kept))


def _tried_by_all(outcomes: Outcomes, task: Task, agents: Sequence[str]) -> bool:
    return all(agent in outcomes.get(task, {}) for agent in agents)


def _ranking(
    about: Mapping[Task, ResultRow], outcomes: Outcomes, chosen: Sequence[Task], agents: Sequence[str], seed: int
) -> Interval:
    """A template is drawn with all its tasks, those of the subset and the others."""
    small = set(chosen)
    templates: dict[tuple[str, str], tuple[list[dict[str, bool]], list[dict[str, bool]]]] = defaultdict(
        lambda: ([], [])
    )
    for task, row in about.items():
        if _tried_by_all(outcomes, task, agents):
            solved = dict(outcomes.get(task, {}))
            templates[row.cluster][0].append(solved)
            if task in small:
                templates[row.cluster][1].append(solved)
    means = [
        tuple([_mean(part, agent) for agent in agents] if part else None for part in parts)
        for parts in templates.values()
    ]

    def tau(drawn: Sequence[tuple[list[float] | None, ...]]) -> float | None:
        whole = [full for full, _ in drawn if full is not None]
        part = [few for _, few in drawn if few is not None]
        if len(agents) < 2 or not whole or not part:
            return None
        return stats.kendall_tau_b(_rounded(np.mean(whole, axis=0)), _rounded(np.mean(part, axis=0)))

    return interval(stats.cluster_bootstrap(means, tau, repeats=1000, seed=seed))


def _rounded(means: stats.Floats) -> list[float]:
    # Two agents that solve the same tasks must tie, in whatever order their means were added up.
    return [round(float(mean), 12) for mean in means]


def _mean(solved: Sequence[Mapping[str, bool]], agent: str) -> float:
    return sum(one[agent] for one in solved) / len(solved)


def _saved(rows: Sequence[ResultRow], chosen: set[Task]) -> dict[str, float]:
    tasks = {row.task for row in rows}
    saved = {"tasks": 1 - len(chosen) / len(tasks)}
    amounts = {
        "seconds": [(row.task, row.seconds) for row in rows],
        "dollars": [(row.task, row.cost_usd) for row in rows if row.cost_usd is not None],
    }
    for name, spent in amounts.items():
        total = fsum(amount for _, amount in spent)
        if total > 0:
            saved[name] = 1 - fsum(amount for task, amount in spent if task in chosen) / total
    return saved


# --- as tables ------------------------------------------------------------------------------------------


def subset_document(subset: Subset) -> Document:
    counts = [(name, str(count)) for name, count in subset.counts.items()]
    counts += [
        ("chosen", str(len(subset.tasks))),
        ("hard at 95 %, as in the text", str(subset.hard_in_text)),
        ("hard at z = 1.282, as in the appendix", str(subset.hard_in_appendix)),
        ("templates covered", f"{subset.templates} of {subset.templates_of_all}"),
        *((f"{name} saved", percent(share)) for name, share in subset.saved.items()),
    ]
    agents = ", ".join(subset.ranked_agents) or "none has a score for nine tenths of the tasks"
    measure = f"Kendall's tau-b, all and subset, over {subset.ranked_tasks} shared tasks"
    ranking = [(measure, plain_interval(subset.ranking), agents)]
    grid = [
        (f"{cell.z:.3f}", f"{cell.easy_threshold:.2f}", str(cell.hard), percent(cell.flipped)) for cell in subset.grid
    ]
    sections = [
        Section("Tasks", ("what", "tasks"), counts),
        Section("Ranking", ("measure", "value and 95 % interval", "agents"), ranking),
        Section("Sensitivity", ("z", "easy threshold", "hard tasks", "tasks that change their class"), grid),
        Section("The subset", ("task",), [(task,) for task in subset.tasks]),
    ]
    return Document("Subset", sections, subset.model_dump_json(indent=1))
