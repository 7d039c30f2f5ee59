"""Texts of one character, over and over: what reads outside text must not take for ever over them. A test that hangs is
ended by the time limit of all tests."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.agents.models.occam import _NEXT_COMMAND
from webassay.core.trajectory import MemoryBlobs
from webassay.grading.rules.response import _out_of_fence, read_response
from webassay.importers.webvoyager import read
from webassay.judging.record.facts import named_in

LONG = 60_000


@pytest.mark.parametrize("blank", [" ", "\t", "\n", " \n"])
def test_a_fence_that_never_closes(blank):
    found = read_response("```" + blank * (LONG // len(blank)), "arena")
    assert found.value is None and [one.code for one in found.findings] == ["not_json"]


@given(
    st.lists(st.sampled_from(["```", "json", "JSON", " ", "\t", "\n", "{}", "[1]", "`", "x"]), max_size=14).map("".join)
)
def test_fenced_blocks_are_those_that_the_plain_pattern_finds(text):
    plain = re.compile(r"```[ \t]*(?:json|JSON)?[ \t]*\n?(.*?)```", re.DOTALL)
    blocks = {block.strip() for block in plain.findall(text)}
    assert _out_of_fence(text) == (blocks.pop() if len(blocks) == 1 else None)


@pytest.mark.parametrize("run", ["1", "1,", "a-", "a1-", " ", "'"])
def test_values_in_prose(run):
    assert all(isinstance(value, str) for value in named_in(run * (LONG // len(run))))


def test_commands_between_empty_lines():
    assert _NEXT_COMMAND.split("note [a]" + "\n" * LONG + "click [1]")[1] == "click [1]"


def test_a_trajectory_of_blanks(tmp_path):
    said = [
        {"role": "user", "content": f"Now given a task:{' ' * LONG}Find it.\nPlease interact with http://shop.test"},
        {
            "role": "assistant",
            "content": f"Thought:{chr(10) * LONG}I look.{chr(10) * LONG}Action: ANSWER; [4]{' ' * LONG}",
        },
    ]
    (tmp_path / "interact_messages.json").write_text(json.dumps(said))
    trajectory = read(tmp_path, MemoryBlobs())
    assert (trajectory.goal.instruction, trajectory.answer, trajectory.steps[0].thought) == ("Find it.", "4", "I look.")
