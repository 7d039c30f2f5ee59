"""What a run remembers of its agents: half by one and half by another would be a score of neither."""

import pytest

from tests.support import samples
from webassay.core.errors import InputError
from webassay.core.unit import UnitOfWork
from webassay.play.settings import refuse_changed, remember_agents
from webassay.store import Store

OLD, NEW = {"agent.py": "sha256:1", "model": "openai:a"}, {"agent.py": "sha256:2", "model": "openai:b"}


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "first") as made:
        made.plan([UnitOfWork(agent="mine", task_id=name) for name in "ab"])
        yield made


def play(store):
    store.add_episode("mine/a/0", samples.trajectory(id="mine/a/0/0", task_id="a"), [])


def test_an_agent_that_changed_is_refused_once_it_has_played(store, tmp_path):
    remember_agents(store, {"mine": OLD})
    refuse_changed(store, {"mine": NEW})
    play(store)
    refuse_changed(store, {"mine": OLD, "another": NEW})
    (tmp_path / "first-2").mkdir()
    with pytest.raises(InputError, match=r"mine is not what played 1 episode in .*first") as error:
        refuse_changed(store, {"mine": NEW})
    assert "agent.py has changed, model was openai:a, now openai:b" in error.value.message
    assert f"--out {tmp_path}/first-3" in error.value.hint


def test_files_that_came_or_went_are_changes_and_what_is_unknown_is_none(store):
    play(store)
    refuse_changed(store, {"mine": NEW})
    remember_agents(store, {"other": OLD})
    remember_agents(store, {"mine": OLD})
    with pytest.raises(InputError, match=r"helper.py is new, model is gone"):
        refuse_changed(store, {"mine": {"agent.py": "sha256:1", "helper.py": "sha256:3"}, "other": OLD})
