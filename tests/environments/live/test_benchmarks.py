"""The three published benchmarks, planned, played, probed, graded and resumed on stand-ins."""

import json

import pytest

from tests.environments.live import tasks
from tests.environments.live.running import StandIn, variables
from tests.support.worlds import CACHE
from webassay import GradeOptions, PlayOptions, Selection, Workbench
from webassay.core.errors import InputError
from webassay.store import Store
from webassay.workbench import ProtocolOptions

CAREFUL, CARELESS = "tests.environments.live.tasks:Scripted", "tests.environments.live.tasks:Careless"
PLAY = PlayOptions(workers=2, trust_agent=True)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def bench(sites: dict[str, StandIn], monkeypatch: pytest.MonkeyPatch, told: list[str]) -> Workbench:
    for name, value in variables(sites).items():
        monkeypatch.setenv(name, value)
    return Workbench(cache=CACHE, on_notice=told.append)


def outcomes(bench: Workbench, run) -> dict[tuple[str, str], str]:
    return {(row["agent"], row["task_id"]): row["status"] for row in bench.rows([run])}


def careful_passes_and_careless_fails(bench: Workbench, run) -> dict[tuple[str, str], str]:
    found = outcomes(bench, run)
    statuses = {(agent, status) for (agent, _), status in found.items()}
    assert statuses == {("careful", "pass"), ("careless", "fail")}, found
    return found


@pytest.mark.long
async def test_the_original_webarena(bench, sites, told, tmp_path):
    """Log-in, reset, play, probe by pages and interfaces, the old protocol; the new one cannot read its answers."""
    selection = Selection(benchmark="webarena", file=str(tasks.webarena(tmp_path)))
    await bench.run(tmp_path / "run", [CAREFUL, CARELESS], selection, PLAY)
    careful_passes_and_careless_fails(bench, tmp_path / "run")
    assert told[0].splitlines()[1].split() == ["site", "address", "answers", "log-in", "reset"]
    assert sites["shopping"].resets == 8 and sites["reddit"].resets == sites["gitlab"].resets == 2

    report = bench.report([tmp_path / "run"])
    careful = next(one for one in report.agents if one.name == "careful")
    assert careful.success.counts.passed == 6 and careful.success.macro.value == 1.0
    assert careful.success.macro.low < 1.0, "six templates are not many"

    both = ProtocolOptions(old_tasks=selection.file, verified_tasks=str(tasks.verified(tmp_path)))
    with pytest.raises(InputError, match="8 with a plain answer"):
        bench.protocols([tmp_path / "run"], both)

    assert not [one for one in bench.grade(tmp_path / "run", GradeOptions()) if one.changed]


async def test_webarena_verified_and_its_hard_set(bench, sites, tmp_path):
    file = str(tasks.verified(tmp_path))
    await bench.run(tmp_path / "run", [CAREFUL, CARELESS], Selection(benchmark="webarena-verified", file=file), PLAY)
    assert len(careful_passes_and_careless_fails(bench, tmp_path / "run")) == 8
    both = ProtocolOptions(old_tasks=str(tasks.webarena(tmp_path)), verified_tasks=file)
    compared = json.loads(bench.protocols([tmp_path / "run"], both).json)
    assert {(pair["agent"], pair["verified"]) for pair in compared["pairs"]} == {
        ("careful", "pass"),
        ("careless", "fail"),
    }

    hard, config = Selection(benchmark="webarena-verified-hard", file=file), tmp_path / "config.json"
    shop = {"urls": [sites["shopping"].url], "env_ctrl_url": sites["shopping"].control}
    config.write_text(json.dumps({"environments": {"__SHOPPING__": shop}}))
    by_file = PlayOptions(workers=2, trust_agent=True, environment=f"live[config={config}]")
    await bench.run(tmp_path / "hard", [CAREFUL], hard, by_file)
    assert set(outcomes(bench, tmp_path / "hard").values()) == {"pass"} and len(bench.rows([tmp_path / "hard"])) == 2


@pytest.mark.long
async def test_webchorearena(bench, tmp_path):
    """What was typed and never sent is looked at in the page that the agent left."""
    selection = Selection(benchmark="webchorearena", file=str(tasks.webchorearena(tmp_path)))
    await bench.run(tmp_path / "run", [CAREFUL, CARELESS], selection, PLAY)
    careful_passes_and_careless_fails(bench, tmp_path / "run")


@pytest.mark.long
async def test_a_site_that_dies_is_a_fault_and_the_run_can_be_resumed(bench, sites, tmp_path):
    selection = Selection(benchmark="webarena", file=str(tasks.webarena(tmp_path)))

    hosting = sites["gitlab"]
    hosting.control_mode = "kills"
    patient = PlayOptions(workers=2, trust_agent=True, environment="live[reset_seconds=5]")
    await bench.run(tmp_path / "run", [CAREFUL], selection, patient)
    found = outcomes(bench, tmp_path / "run")
    assert found[("careful", "webarena.3")] == "fault" and list(found.values()).count("pass") == 5, found
    with Store.open(tmp_path / "run") as store:
        message = store.trajectory("careful/webarena.3/0").ending.message
    assert "gitlab was not ready within 5 seconds after a reset: it answers with 503" in message

    hosting.control_mode = hosting.mode = "well"
    before = len(sites["shopping"].requests)
    await bench.run(tmp_path / "run", [CAREFUL], selection, PLAY)
    assert set(outcomes(bench, tmp_path / "run").values()) == {"pass"}
    assert [path for _, path, _ in sites["shopping"].requests[before:]] == ["/"], "only looked at, not played again"


async def test_nothing_is_planned_while_a_site_cannot_be_reached(bench, sites, tmp_path):
    sites["reddit"].mode = "dead"
    selection = Selection(benchmark="webarena", file=str(tasks.webarena(tmp_path)))
    with pytest.raises(InputError, match=r"(?s)Not every site can be reached.*reddit.*503"):
        await bench.run(tmp_path / "run", [CAREFUL], selection, PLAY)
    assert not (tmp_path / "run").exists()


@pytest.mark.long
async def test_two_workers_do_not_disturb_each_others_log_in(bench, sites, tmp_path):
    """Every episode has a session of its own, and nobody else's is used in it."""
    selection = Selection(
        benchmark="webarena", file=str(tasks.webarena(tmp_path)), tasks=("webarena.4", "webarena.5", "webarena.0")
    )
    options = PlayOptions(workers=2, trust_agent=True, trials=2, environment="live[parallel=2]")
    await bench.run(tmp_path / "run", [CAREFUL], selection, options)
    assert set(outcomes(bench, tmp_path / "run").values()) == {"pass"}
    logged_in = {cookie for _, path, cookie in sites["shopping"].requests if path.endswith(".html")}
    assert len(logged_in) == 6 and all("PHPSESSID" in cookie for cookie in logged_in)
