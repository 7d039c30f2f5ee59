"""A seat without browser, sites or grader: for tests of doors. It passes whoever answers "right"."""

from webassay.core.errors import InputError
from webassay.core.interaction import Decision, Goal, Observation
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.task import JudgedCheck, Task
from webassay.core.trajectory import AgentInfo, Ending, MemoryBlobs, Trajectory
from webassay.core.verdict import Fingerprint, Verdict
from webassay.doors.addresses import PlainAddresses
from webassay.doors.seat import EpisodeResult, Opening, Turn

GOAL = Goal(instruction="Say what is right.", start_urls=("http://shop.x1.localhost/",), protocol=ARENA_PROTOCOL)


class FakeSeat:
    def __init__(self) -> None:
        self.task: Task | None = None
        self.decisions: list[Decision | str] = []

    async def open(self, task_id: str) -> Opening:
        self.task = Task(id=task_id, benchmark="fake", template="fake", kind="retrieve", goal=GOAL, sites=(),
                         checks=(JudgedCheck(),))  # fmt: skip
        return Opening(self.task, GOAL, PlainAddresses({"shop": "http://shop.x1.localhost"}), self._page())

    def _page(self) -> Observation:
        if self.task is None:
            raise InputError("There is no episode under way.", hint="Open one.")
        url = "http://shop.x1.localhost/"
        return Observation(url=url, title="Shop", tabs=(), active_tab=0, tree=f"[1] link {url}")

    async def observe(self) -> Turn:
        return Turn(self._page())

    async def step(self, decision: Decision | str) -> Turn:
        self.decisions.append(decision)
        over = "send_msg_to_user" in str(decision)
        return Turn(self._page(), self._result("answered", "right" in str(decision)) if over else None)

    async def finish(self) -> EpisodeResult:
        return self._result("gave_up", False)

    async def time_out(self, message: str) -> EpisodeResult:
        return self._result("time_limit", False)

    async def abandon(self) -> None:
        self.task = None

    async def close(self) -> None:
        self.task = None

    def _result(self, kind, right: bool) -> EpisodeResult:
        assert self.task is not None
        trajectory = Trajectory(id="fake/0", goal=GOAL, agent=AgentInfo(name="fake"), ending=Ending(kind=kind))
        status = "pass" if right else "fail"
        fingerprint = Fingerprint(grader="fake", version="1")
        verdict = Verdict(trajectory_id="fake/0", task_id=self.task.id, status=status, fingerprint=fingerprint)
        return EpisodeResult(trajectory, verdict, MemoryBlobs())
