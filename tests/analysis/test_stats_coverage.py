"""Do the intervals hold the truth as often as they say? Drawn with a fixed seed, so the numbers do not move."""

import pytest
from scripts.bench_statistics import coverage, paired_coverage


@pytest.mark.parametrize(("templates", "rate"), [(20, 0.5), (50, 0.3), (190, 0.5)])
def test_t_interval_holds_what_it_promises(templates: int, rate: float) -> None:
    assert coverage("t over templates", templates, rate, repeats=1000) == pytest.approx(0.95, abs=0.02)


def test_t_interval_degrades_where_the_documentation_says() -> None:
    assert coverage("t over templates", 10, 0.02, repeats=500) < 0.6
    assert coverage("t over templates", 10, 0.5, repeats=500) > 0.93


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("templates", [2, 3, 5, 10, 20, 50, 200])
def test_what_reports_show_holds_what_it_promises(templates: int, rate: float) -> None:
    """Never clearly less; with few templates it may be more."""
    assert coverage("Wilson for clusters", templates, rate, repeats=1000) >= 0.92


def test_with_one_template_nothing_is_promised() -> None:
    assert coverage("Wilson for clusters", 1, 0.5, repeats=10) == 0


@pytest.mark.parametrize("rate", [0.05, 0.5])
@pytest.mark.parametrize("templates", [2, 3, 5, 10, 50])
def test_paired_differences_hold_what_they_promise(templates: int, rate: float) -> None:
    for difference in (0.0, 0.1):
        right, _, seen = paired_coverage(templates, difference, rate=rate, repeats=800)
        assert right >= 0.92
        assert difference or seen <= 0.07


def test_tasks_of_a_template_are_not_independent() -> None:
    """Why Wilson's interval over tasks is not the primary one."""
    assert coverage("Wilson over tasks", 100, 0.5, repeats=500) < 0.88
    assert coverage("Wilson over tasks", 100, 0.5, repeats=500, correlation=0.001) > 0.93


def test_bootstrap_and_paired_difference_hold_what_they_promise() -> None:
    assert coverage("cluster bootstrap", 100, 0.5, repeats=400) == pytest.approx(0.95, abs=0.025)
    right, _, seen = paired_coverage(50, 0.0, repeats=1000)
    assert right == pytest.approx(0.95, abs=0.02)
    assert seen == pytest.approx(0.05, abs=0.02)
