"""The classifier that knows only how long a trajectory is finds a difference where there is one, and only there."""

import random

import numpy as np
import pytest

from tests.support import samples
from webassay.core.interaction import Action
from webassay.core.trajectory import RecordedObservation, Step
from webassay.faultbench.lookalike import Feature, auc, features_of, given_away


def features(rng, longer, n=200):
    wrong = [number % 2 == 0 for number in range(n)]
    steps = [rng.randint(5, 20) + (longer if bad else 0) for bad in wrong]
    groups = [f"template {number % 11}" for number in range(n)]
    return [Feature(bad, k, k // 2, k * 1.3, k * 40, 0.1) for bad, k in zip(wrong, steps, strict=True)], groups


@pytest.mark.parametrize(("longer", "low", "high"), [(0, 0.35, 0.6), (6, 0.7, 1.0), (30, 0.99, 1.0)])
def test_it_sees_what_there_is_to_see(longer, low, high):
    found = given_away(*features(random.Random(4), longer))
    assert low <= found.value <= high
    assert found.low <= found.value <= found.high


def test_too_little_to_say():
    found, groups = features(random.Random(1), 3)
    assert given_away(found, ["one"] * len(found)) is None
    assert given_away([one._replace(wrong=True) for one in found], groups) is None


def test_auc_is_the_share_of_pairs_in_order():
    wrong = np.array([True, True, False, False])
    assert auc(np.array([3.0, 2.0, 1.0, 0.0]), wrong) == 1.0
    assert auc(np.array([0.0, 0.0, 0.0, 0.0]), wrong) == 0.5
    assert auc(np.array([2.0, 0.0, 1.0, 3.0]), wrong) == 0.25


@pytest.mark.parametrize(
    ("course", "share"),
    [("sca", 1 / 3), ("csa", 0), ("cscssa", 1 / 6), ("a", 0), ("ssa", 0), ("", 0)],
)
def test_scrolling_is_early_where_something_is_done_after_it(course, share):
    made = {"s": Action.of("scroll", 0, 300), "c": Action.of("click", "1"), "a": Action.of("send_msg_to_user", "{}")}
    seen = RecordedObservation(url="http://shop.test/")
    steps = tuple(Step(index=place, seen=seen, actions=(made[what],)) for place, what in enumerate(course))
    assert features_of(samples.trajectory(steps=steps), wrong=False).early_scrolls == pytest.approx(share)
