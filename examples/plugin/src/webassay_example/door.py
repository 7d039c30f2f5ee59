"""`policy`: a door for a function from text to text in the same process."""

from collections.abc import Callable

from webassay.doors.addresses import goal_text
from webassay.doors.engine import Lease
from webassay.doors.plan import SeatSettings
from webassay.doors.seat import EngineSeat, EpisodeResult, Seat
from webassay.play.door import Door

Policy = Callable[[str], str]


async def play(seat: Seat, task_id: str, policy: Policy, most_turns: int = 20) -> EpisodeResult:
    opening = await seat.open(task_id)
    addresses, page = opening.addresses, opening.observation
    for _ in range(most_turns):
        prompt = "\n\n".join([goal_text(opening.goal), page.url, page.tree or "", page.last_error])
        turn = await seat.step(addresses.unmask(policy(addresses.mask(prompt))))
        if turn.result is not None:
            return turn.result
        page = turn.observation or page
    return await seat.finish()  # The limit is ours, so the episode is graded as it stands.


async def evaluate(policy: Policy, settings: SeatSettings) -> dict[str, float | None]:
    """The score of every task. None is not a 0: nothing can be said about the policy."""
    plan = settings.plan()
    async with Lease() as engine:
        seat = EngineSeat(engine, plan)
        try:
            return {task.id: (await play(seat, task.id, policy)).score for task in plan.exercise.tasks}
        finally:
            await seat.close()


POLICY = Door("policy", "A function from text to text, in this process", module="webassay_example.door")
