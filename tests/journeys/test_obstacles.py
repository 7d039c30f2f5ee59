"""Every obstacle, played: the oracle gets past it, or says with the right status that nobody can."""

import json

import pytest

from tests.support.worlds import CACHE
from webassay import PlayOptions, Selection, Workbench, run_sync
from webassay.arena.benchmark import HARD, OBSTACLES
from webassay.compose.registries import TEMPLATES
from webassay.core.served import ServedRecord
from webassay.core.trajectory import ServedResult
from webassay.play.episode import Recording
from webassay.store import Store

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(400)]

BENCH = Workbench(cache=CACHE)
NO_PICTURES = PlayOptions(recording=Recording(parts=()))
LEAVES = {
    "cookie-banner": ("POST", 303, "/cookie-choice"),
    "newsletter-popup": ("POST", 303, "/newsletter-offer"),
    "unavailable": ("GET", 503, ""),
    "session-ends": ("POST", 303, "/account/login"),
    "log-in-wall": ("POST", 303, "/account/login"),
    "form-loses-field": ("POST", 422, ""),
}
"""What the site's record has only where the obstacle was met. The others change nothing that is recorded there."""
MET = {
    "down": (("/", 503),),
    "log-in-wall": (("/account/login?next=", 200),),
    "sold-out": (("/cart/add", 409), ("/account/orders/", 303)),
}


def played(out, templates, obstacle, seed=5):
    """Verdict, answer and what was served, of each template."""
    chosen = Selection(templates=templates, instances=1, seed=seed, obstacles=(obstacle,))
    run_sync(BENCH.run(out, ["oracle"], chosen, NO_PICTURES))
    with Store.open(out) as store:
        for _, trajectory in store.trajectories():
            records = [ServedRecord.unpack(store.blobs.read(one.blob)) for one in trajectory.probed(ServedResult)]
            served = [one for record in records for one in record.served]
            verdict = store.verdict(trajectory.id, "rules")
            yield trajectory.task_id, verdict, json.loads(trajectory.answer), served


def was_met(obstacle, served):
    method, status, path = LEAVES[obstacle]
    return any((one.method, one.status) == (method, status) and one.path.startswith(path) for one in served)


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_the_oracle_gets_past_what_can_be_got_past(tmp_path, obstacle):
    for task, verdict, _, served in played(tmp_path / "run", ("shop.change-address",), obstacle):
        assert verdict.status == "pass", [finding.message for finding in verdict.findings]
        assert task.endswith(f"@{obstacle}")
        assert obstacle not in LEAVES or was_met(obstacle, served)


@pytest.mark.parametrize(
    ("obstacle", "template"),
    [
        ("down", "shop.open-cheapest"),
        ("log-in-wall", "shop.open-cheapest"),
        ("sold-out", "shop.cart-cheapest-well-rated"),
        ("sold-out", "shop.reorder-canceled"),
    ],
)
def test_whoever_says_why_it_cannot_be_done_is_right(tmp_path, obstacle, template):
    ((_, verdict, answer, served),) = played(tmp_path / "run", (template,), obstacle)
    assert verdict.status == "pass", [finding.message for finding in verdict.findings]
    assert answer["status"] == HARD[obstacle].status
    assert any(one.path.startswith(path) and one.status == status for one in served for path, status in MET[obstacle])


def test_whoever_is_logged_out_of_two_sites_logs_in_on_both(tmp_path):
    ((_, verdict, _, served),) = played(tmp_path / "run", ("shop.hold-my-order",), "log-in-wall")
    assert verdict.status == "pass", [finding.message for finding in verdict.findings]
    entered = {one.path.partition("?")[0] for one in served if (one.method, one.status) == ("POST", 303)}
    assert {"/account/login", "/login"} <= entered


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("obstacle", dict.fromkeys((*OBSTACLES, *HARD)))
def test_the_oracle_is_right_in_every_template_behind_every_obstacle(tmp_path, obstacle):
    found = list(played(tmp_path / "run", TEMPLATES.names(), obstacle))
    wrong = {task: [one.message for one in verdict.findings] for task, verdict, *_ in found if verdict.status != "pass"}
    assert wrong == {}
    assert len(found) == len(TEMPLATES.names())
