"""Tasks from files: what nobody could play is refused when the file is read."""

import pytest

from tests.support import samples
from webassay.compose.tasks import benchmark_named
from webassay.core.errors import InputError
from webassay.core.task import ActivityCheck, Checkpoint, PagePattern, ResponseCheck, StateCheck, Task

ANSWER = ResponseCheck(action="retrieve")


def strange() -> dict[str, Task]:
    return {
        "its goal": samples.task(goal=samples.goal(sites=("nowhere",))),
        "its start": samples.task(goal=samples.goal(start_urls=("__NOWHERE__/",))),
        "its log-in": samples.task(logins={"nowhere": "ann"}),
        "its key": samples.task(checks=(ANSWER, ActivityCheck(site="nowhere"))),
        "its rows": samples.task(
            checks=(StateCheck.model_validate({"changes": [{"site": "nowhere", "table": "t", "operation": "delete"}]}),)
        ),
        "its milestone": samples.task(
            checkpoints=(Checkpoint(name="there", visits=(PagePattern(site="nowhere", path="/"),)),)
        ),
    }


@pytest.mark.parametrize("where", sorted(strange()))
def test_a_site_that_the_task_does_not_have_is_named(where, tmp_path):
    task = strange()[where]
    (tmp_path / "tasks.json").write_text(f"[{task.model_dump_json()}]")
    with pytest.raises(InputError, match=r"names the site 'nowhere', which is not among its sites \(shop\)"):
        benchmark_named(str(tmp_path / "tasks.json"), trusted=True)


def test_a_task_that_names_its_own_sites_is_read(tmp_path):
    task = samples.task(checks=(ANSWER, ActivityCheck(site="shop")), logins={"shop": "ann"})
    (tmp_path / "tasks.json").write_text(f"[{task.model_dump_json()}]")
    assert benchmark_named(str(tmp_path / "tasks.json"), trusted=True).name.endswith("tasks.json")
