"""Pictures of intervals: names have the room that they need, up to half of the picture."""

import re

import pytest

from webassay.analysis.output.svg import Bar, forest
from webassay.core.report import Interval


def drawn(name):
    whole = Interval(value=0.5, low=0.2, high=0.8, units=6, method="m")
    return forest([Bar(name, whole, "50 %"), Bar("other", whole, "50 %")], low=0, high=1, step=0.2)


@pytest.mark.parametrize("name", ["oracle", "flawed[skill=0.6,errors=answer]", "x" * 50])
def test_a_name_is_not_cut(name):
    assert f">{name}</text>" in drawn(name)


def test_a_name_without_end_is_cut_and_leaves_room_for_the_interval():
    picture = drawn("x" * 300)
    assert re.search(r">x{40,60}…</text>", picture)
    ends = [float(x) for x in re.findall(r'class="whisker" x1="([\d.]+)"', picture)]
    assert 400 <= min(ends) < max(ends) <= 690
