"""Side by side with the published grader: the same verdict on honest logs, but for the tasks that the docs name."""

import json
import re
from pathlib import Path

import pytest

from tests.support import verified_logs as logs
from webassay.benchmarks import verified
from webassay.core.errors import InputError
from webassay.grading.logs import LogLayout, grade_logs
from webassay.grading.reference import differences, reference_python, reference_verdicts

pytestmark = [pytest.mark.external, pytest.mark.slow, pytest.mark.timeout(1800)]

PAGE = Path(__file__).parents[2] / "docs" / "decisions" / "0102-where-we-differ-from-the-published-grader.md"


def documented() -> set[int]:
    """The task numbers in the first column of the page's table."""
    found = set()
    for cell in re.findall(r"^\| ([\d,; -]+) \|", PAGE.read_text(), flags=re.M):
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", cell):
            found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.fixture(scope="module")
def python():
    try:
        return reference_python(logs.cache_directory())
    except InputError as error:
        pytest.skip(f"the published grader cannot be had: {error}")


@pytest.mark.parametrize("make", [logs.right_log, logs.spelled_log, logs.wrong_log])
def test_honest_logs_get_the_same_verdict(tmp_path, python, make):
    path = logs.published_file()
    for entry in json.loads(path.read_text()):
        logs.write(tmp_path, entry["task_id"], *make(entry))
    tasks = {str(verified.number_of(task)): task for task in verified.load(path)}
    layout = LogLayout(bases={site: (url,) for site, url in logs.HOSTS.items()}, ports=verified.PORTS)
    found = differences(grade_logs(tmp_path, tasks, layout), reference_verdicts(tmp_path, range(812), layout, python))
    assert {one.kind for one in found} <= {"false negative"}
    if make is not logs.spelled_log:
        assert {one.number for one in found} == (documented() if make is logs.right_log else set())


def test_the_page_names_tasks():
    assert {699, 700, 811} < documented() < set(range(812))
