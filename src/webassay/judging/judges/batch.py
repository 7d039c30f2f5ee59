"""Many trajectories at once, in a way that can be interrupted and resumed: whatever has a verdict with the same
fingerprint is not judged again, and replies already paid for come from the model's cache."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from webassay.core.errors import BudgetError, InputError
from webassay.core.verdict import Fingerprint, Verdict
from webassay.judging.judges.base import Item, PreparedJudge
from webassay.judging.ledger import gather_all


@dataclass
class BatchSummary:
    judged: int = 0
    skipped: int = 0
    faulted: int = 0
    stopped: str = ""
    """Why the batch ended early, if it did: the budget."""


@dataclass
class JudgingLocks:
    """What is being judged right now. Batches that share a store must share this, or they may judge the same twice."""

    _held: set[tuple[str, str]] = field(default_factory=set)

    @contextmanager
    def claim(self, trajectory_id: str, fingerprint: Fingerprint) -> Iterator[bool]:
        """False if another batch holds it."""
        key = (trajectory_id, fingerprint.content_hash())
        free = key not in self._held
        if not free:
            yield False
            return
        self._held.add(key)
        try:
            yield True
        finally:
            self._held.discard(key)


async def verify_many(
    items: Iterable[Item],
    judge: PreparedJudge,
    *,
    sink: Callable[[Verdict], None],
    stored: Callable[[str, Fingerprint], bool] = lambda _id, _fingerprint: False,
    at_once: int = 8,
    claims: JudgingLocks | None = None,
) -> BatchSummary:
    """Judges everything that has no verdict yet, and hands each verdict to `sink` as soon as it is there.

    Trajectories are taken from `items` only when there is room for another, so memory does not depend on their number.
    All must be from one store, as ids may repeat across stores. One that cannot be judged becomes a fault. A spent
    budget ends the batch and keeps what is finished; a trajectory that `PreparedJudge.check` refuses ends it with an
    InputError.
    """
    if at_once < 1:
        raise InputError("At least one trajectory must be judged at a time.")
    tally = BatchSummary()
    claims = claims or JudgingLocks()
    waiting = iter(items)
    taken: set[str] = set()

    async def work() -> None:
        for trajectory, blobs in waiting:
            if tally.stopped:
                return
            with claims.claim(trajectory.id, judge.fingerprint) as mine:
                # Nothing is awaited between the claim and this look at the store, so no verdict can slip in between.
                if not mine or trajectory.id in taken or stored(trajectory.id, judge.fingerprint):
                    tally.skipped += 1
                    continue
                taken.add(trajectory.id)
                try:
                    verdict = await judge.verdict(trajectory, blobs)
                except BudgetError as error:
                    tally.stopped = str(error)
                    return
                sink(verdict)
            tally.judged += 1
            tally.faulted += verdict.status == "fault"

    await gather_all(work() for _ in range(at_once))
    return tally
