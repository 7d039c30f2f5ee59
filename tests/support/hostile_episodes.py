"""An episode in which every text that a page, an agent or a judge can write tries to run, load or hide something."""

import json

from tests.support.episodes import BASE, HOSTILE, page, sample_task, sample_trajectory, sample_verdicts
from webassay.core.interaction import Action
from webassay.core.rater import PUBLISHED_OUTPUT
from webassay.core.task import Expectation, Task
from webassay.core.touched import TouchedRecord, TouchedRow, TouchingRequest
from webassay.core.trajectory import (
    AgentInfo,
    Aim,
    Ending,
    NetworkLog,
    PageResult,
    RowChange,
    RowsResult,
    Step,
    Timing,
    TouchedResult,
    Trajectory,
)
from webassay.core.verdict import Finding, Fingerprint, Verdict


def hostile_task() -> Task:
    task = sample_task()
    response, pages, state = task.checks
    changes = tuple(
        change.model_copy(update={"values": {"status": Expectation.of(HOSTILE)}}) for change in state.changes
    )
    return task.model_copy(
        update={
            "id": f"task {HOSTILE}",
            "goal": task.goal.model_copy(update={"instruction": HOSTILE, "start_urls": (HOSTILE,)}),
            "checks": (response, pages, state.model_copy(update={"changes": changes})),
        }
    )


def hostile_trajectory(blobs, task: Task) -> Trajectory:
    said = {"url": f"javascript:{HOSTILE}", "tabs": (HOSTILE, HOSTILE), "notices": (HOSTILE,), "last_error": HOSTILE}
    tree = f"RootWebArea {HOSTILE!r}\n\t[{HOSTILE}] link {HOSTILE!r}\n\t[12] link {HOSTILE}"
    seen = page(blobs, "/", HOSTILE, "navy", tree=blobs.write(tree.encode(), HOSTILE), **said)
    fake = seen.model_copy(update={"screenshot": blobs.write(HOSTILE.encode(), f'image/jpeg" onerror="{HOSTILE}')})
    step = Step(
        index=0,
        seen=seen,
        actions=(Action(name=HOSTILE, args={HOSTILE: HOSTILE}), Action.of("click", "12"), Action.of("goto", HOSTILE)),
        thought=HOSTILE,
        memory=HOSTILE,
        raw=HOSTILE,
        error=HOSTILE,
        waited_for=(HOSTILE,),
        aims=(Aim(action=0, box=(10, 20, 300, 40)), Aim(action=1, box=(-50, -50, 5, 5))),
        console=(HOSTILE,),
        info={HOSTILE: HOSTILE},
        timing=Timing(at=0.0, decide=1.0, act=0.1),
    )
    touched = TouchedRecord(
        requests=(
            TouchingRequest(
                HOSTILE, HOSTILE, HOSTILE, 0.0, 0, (TouchedRow(HOSTILE, {"id": HOSTILE}, None, {HOSTILE: HOSTILE}),)
            ),
        )
    )
    row = {"status": HOSTILE, HOSTILE: HOSTILE}
    log = "".join(
        f'{{"id": "1", "time": 0.5, "method": {method}, "url": {method}, "status": 200, "post_data": {method}}}\n'
        for method in (json.dumps(HOSTILE), json.dumps(f"{BASE}/{HOSTILE}"))
    )
    return sample_trajectory(
        blobs,
        task,
        id=f"trajectory {HOSTILE}",
        agent=AgentInfo(name=HOSTILE, model=HOSTILE, settings={HOSTILE: HOSTILE}),
        started_at=HOSTILE,
        source=HOSTILE,
        answer=HOSTILE,
        ending=Ending(kind="agent_crashed", message=HOSTILE),
        steps=(step, step.model_copy(update={"index": 1, "seen": fake, "actions": (), "action_text": HOSTILE})),
        last_seen=fake,
        network=NetworkLog(blob=blobs.write(log.encode(), HOSTILE)),
        probes=(
            PageResult(url=HOSTILE, title=HOSTILE, tabs=(HOSTILE,)),
            RowsResult(site="shop", changes=(RowChange(table=HOSTILE, key={"id": HOSTILE}, after=row),)),
            TouchedResult(site="shop", blob=blobs.write(touched.pack(), "x"), rows=1),
        ),
    )


def hostile_verdicts(trajectory: Trajectory):
    finding = Finding(
        check=HOSTILE, status="fail", message=HOSTILE, expected={HOSTILE: HOSTILE}, actual=[HOSTILE], steps=(0, 1)
    )
    told = dict.fromkeys(("seen", "analysis", "discrepancies", "category"), HOSTILE)
    said = dict.fromkeys(("primary_intent", "reasoning"), HOSTILE)
    lists = {name: [HOSTILE] for name in ("nitpicks", "critical_issues", "missing_evidence")}
    failure = dict.fromkeys(
        ("code", "slug", "category", "what_happened", "agent_reasoning", "evidence", "impact"), HOSTILE
    )
    score = dict.fromkeys(("justification", "post_justification", "reality_notes", "looked_closer", "cause"), HOSTILE)
    asked = {"criterion": HOSTILE, "description": HOSTILE, "condition": HOSTILE, "max_points": 4}
    rubric = {
        "rubric": {"critical_point": {"present": True, "action": HOSTILE, "reasoning": HOSTILE}},
        "scores": [{**score, "criterion": asked, "action_only": 4, "points": 1}],
        "evidence": [{**told, "criterion": 0, "screenshot": 1}],
        "relevance": {"1": [9], "2": [3]},
        "groups": [[1]],
        "examined": {"pictures": [1], "unseen": {"2": HOSTILE}},
        "outcome": {"votes": [{**said, **lists, "success": False}], "overruled": [HOSTILE], "cp_violation": True},
        "diagnosis": {"points": [{**failure, "steps": [1]}]},
        "degraded": [HOSTILE],
    }
    pages = {"key_points": HOSTILE, "image_judge_record": [{"Score": 5, "Response": HOSTILE}]}
    judges = {"universal": rubric, "published:webjudge": {PUBLISHED_OUTPUT: pages}}
    for grader, replies in judges.items():
        stamp = Fingerprint(grader=grader, version="1")
        about = {"trajectory_id": trajectory.id, "task_id": trajectory.task_id, "fingerprint": stamp}
        yield Verdict(**about, status="fail", findings=(finding,), replies=replies)
    for verdict in sample_verdicts(trajectory):
        stamp = verdict.fingerprint.model_copy(update={"model": HOSTILE})
        yield verdict.model_copy(update={"findings": (finding,), "fingerprint": stamp})
        yield verdict.model_copy(
            update={"findings": (finding,), "fingerprint": stamp.model_copy(update={"grader": HOSTILE})}
        )
