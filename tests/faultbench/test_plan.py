"""What a fault bench tries next: even over codes, sites and lengths, and never for ever where nothing comes of it."""

from collections import Counter
from types import SimpleNamespace

import pytest

from webassay.faultbench.inject import CODES
from webassay.faultbench.plan import LACKS_OCCASION, BenchOptions, Job, Planner, Tried, cells, length_of
from webassay.faultbench.records import LENGTHS, Excluded

SITES = ("admin", "shop")
FEW = ("1.4", "2.2", "3.5", "6.1")


def jobs_of(codes, sites=SITES, each=6):
    return {
        code: [
            Job(mistake, SimpleNamespace(id=f"{name}.{number}", template=name, sites=(site,)), half, length)
            for mistake in CODES[code]
            for site in sites
            for length in LENGTHS
            for half in ("dev", "test")
            for name in [f"{site}.{length}.{half}"]
            for number in range(each)
        ]
        for code in codes
    }


def collected(jobs, pairs, fails=lambda job: False):
    """As a bench is made, without playing."""
    planner = Planner(None, BenchOptions(trajectories=2 * pairs, codes=tuple(jobs)))
    queues = {code: list(own) for code, own in jobs.items()}
    tried = Tried([], [])
    while wave := planner.wave(queues, tried):
        for job in wave:
            if fails(job):
                told = Excluded(
                    mistake=job.mistake.name, code=job.mistake.code, task_id=job.task.id, why=LACKS_OCCASION
                )
                tried.failed.append((job, told))
            else:
                tried.made.append(job)
    return tried


@pytest.mark.parametrize("pairs", [10, 50, 100, 500])
def test_every_code_site_length_and_half_has_its_share(pairs):
    jobs = jobs_of(CODES)
    made = collected(jobs, pairs).made
    assert len(made) == pairs
    for share, of in (
        (pairs / len(CODES), lambda job: job.mistake.code),
        (pairs / len(CODES) / 2, lambda job: (job.mistake.code, job.site)),
        (pairs / 2, lambda job: job.site),
        (pairs / len(CODES) / 3, lambda job: (job.mistake.code, job.length)),
        (pairs / 3, lambda job: job.length),
        (pairs / 2, lambda job: job.half),
    ):
        counts = Counter(map(of, made))
        assert max(counts.values()) <= 1.1 * share + 1.5
        if share >= 2:
            assert min(counts.values()) >= 0.9 * share - 1.5


def test_one_bench_is_the_same_every_time_and_uses_no_job_twice():
    jobs = jobs_of(FEW)
    first, second = (collected(jobs, 120, fails=lambda job: "short" in job.task.template) for _ in range(2))
    assert first == second
    used = Counter((job.mistake.name, job.task.id) for job in [*first.made, *(job for job, _ in first.failed)])
    assert set(used.values()) == {1}


def test_a_site_on_which_a_mistake_never_comes_about_is_left_for_the_other():
    tried = collected(jobs_of(FEW), 60, fails=lambda job: job.mistake.code == "6.1" and job.site == "admin")
    made = Counter((job.mistake.code, job.site) for job in tried.made)
    assert len(tried.made) == 60
    assert made["6.1", "admin"] == 0
    assert {code: made[code, "admin"] + made[code, "shop"] for code in FEW} == dict.fromkeys(FEW, 15)
    told = {(cell.code, cell.site): cell for cell in cells(jobs_of(FEW), 60, tried.made)}
    assert (told["6.1", "admin"].wanted, told["6.1", "admin"].made) in ((7, 0), (8, 0))
    assert told["6.1", "shop"].made == 15


def test_what_is_wanted_is_wanted_where_it_applies():
    jobs = jobs_of(FEW)
    jobs["2.2"] = [job for job in jobs["2.2"] if job.site == "shop"]
    jobs["3.5"] = []
    told = cells(jobs, 30, [])
    assert sum(cell.wanted for cell in told) == 30
    applies = {(cell.code, cell.site) for cell in told if cell.applies}
    assert applies == {(code, site) for code in ("1.4", "6.1") for site in SITES} | {("2.2", "shop")}
    assert {(cell.code, cell.site) for cell in told if cell.wanted} == applies


@pytest.mark.parametrize(
    ("steps", "length"), [(1, "short"), (9, "short"), (10, "medium"), (15, "medium"), (16, "long")]
)
def test_lengths(steps, length):
    assert length_of(steps) == length
