"""A whole ledger in sums, made by SQLite itself: what a first look needs, in a tenth of the time that reading its rows
takes."""

from typing import NamedTuple

import apsw


class TemplateSums(NamedTuple):
    """One agent on one template; on one task where it has no template."""

    agent: str
    benchmark: str
    template: str
    tasks: int
    rates: float
    """The sum of the success rates of the tasks that have one."""
    scored_tasks: int
    passed: int
    failed: int
    abstained: int
    faulted: int
    missing: int
    steps: int
    seconds: float
    traced: int
    """Episodes of which steps and times are known."""
    cost: float | None
    """None: it is known of none."""


class AgentWords(NamedTuple):
    agent: str
    baseline: bool | None
    """None: the plan does not say."""
    model: str


_SUMS = """
WITH one AS (
    SELECT u.agent AS agent, u.task AS task,
        COALESCE(NULLIF(u.benchmark, ''), json_extract(t.summary, '$.benchmark'), '') AS benchmark,
        COALESCE(NULLIF(u.template, ''), NULLIF(json_extract(t.summary, '$.template'), ''), 'task ' || u.task)
            AS template,
        CASE WHEN v.status IS NOT NULL THEN v.status WHEN t.ordinal IS NULL THEN 'missing'
             WHEN t.ending = 'fault' THEN 'fault' ELSE 'abstain' END AS status,
        t.steps AS steps, t.seconds AS seconds, t.steps > 0 OR t.seconds > 0 AS traced,
        CASE WHEN instr(t.summary, '"cost_usd"') THEN json_extract(t.summary, '$.cost_usd') END AS cost
    FROM unit u LEFT JOIN trajectory t ON t.ordinal =
        (SELECT ordinal FROM trajectory WHERE unit_ordinal = u.ordinal ORDER BY faulted, attempt DESC LIMIT 1)
    LEFT JOIN verdict v ON v.ordinal =
        (SELECT max(ordinal) FROM verdict WHERE trajectory_ordinal = t.ordinal AND grader = :grader
         AND (:raters IS NULL OR rater IN (SELECT value FROM json_each(:raters))))
), own AS (
    SELECT agent, benchmark, template, task,
        sum(status = 'pass') AS passed, sum(status = 'fail') AS failed, sum(status = 'abstain') AS abstained,
        sum(status = 'fault') AS faulted, sum(status = 'missing') AS missing,
        sum(CASE WHEN traced THEN steps ELSE 0 END) AS steps, sum(CASE WHEN traced THEN seconds ELSE 0 END) AS seconds,
        COALESCE(sum(traced), 0) AS traced, sum(cost) AS cost
    FROM one GROUP BY agent, benchmark, template, task
)
SELECT agent, benchmark, template, count(*),
    sum(CASE WHEN passed + failed THEN 1.0 * passed / (passed + failed) ELSE 0 END), sum(passed + failed > 0),
    sum(passed), sum(failed), sum(abstained), sum(faulted), sum(missing),
    sum(steps), sum(seconds), sum(traced), sum(cost)
FROM own GROUP BY agent, benchmark, template
"""

_WORDS = """
SELECT u.agent, json_extract(u.summary, '$.baseline'), COALESCE((SELECT json_extract(summary, '$.model')
    FROM trajectory WHERE unit_ordinal = u.ordinal ORDER BY faulted, attempt DESC LIMIT 1), '')
FROM unit u WHERE u.ordinal IN (SELECT min(unit_ordinal) FROM trajectory GROUP BY agent)
    OR u.ordinal IN (SELECT min(ordinal) FROM unit GROUP BY agent) ORDER BY u.ordinal
"""


def template_sums(db: apsw.Connection, grader: str, raters: str | None) -> list[TemplateSums]:
    """`raters`: a JSON list of ids; only their verdicts count."""
    return [TemplateSums(*row) for row in db.execute(_SUMS, {"grader": grader, "raters": raters})]


def agent_words(db: apsw.Connection) -> dict[str, AgentWords]:
    """What a plan and an episode say of each agent."""
    found: dict[str, AgentWords] = {}
    for agent, baseline, model in db.execute(_WORDS):
        known = found.get(agent, AgentWords(agent, None, ""))
        said = None if baseline is None else bool(baseline)
        found[agent] = AgentWords(agent, known.baseline if said is None else said, str(model or known.model))
    return found
