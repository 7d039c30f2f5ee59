"""A judge that needs no model: it looks for words in the answer."""

from dataclasses import asdict, dataclass

from webassay.core.interaction import Goal
from webassay.core.trajectory import Blobs, Trajectory
from webassay.core.verdict import Aspect, Finding, Fingerprint, Verdict
from webassay.judging.judges.base import Judge, PreparedJudge
from webassay.judging.ledger import Models
from webassay.judging.universal.resources import VerifierResources


@dataclass(frozen=True)
class Options:
    words: tuple[str, ...] = ()
    """All of these must stand in the answer."""


@dataclass(frozen=True, kw_only=True)
class Mentions(Judge[Options]):
    def prepare(self, models: Models | None, options: Options, resources: VerifierResources) -> PreparedJudge:
        settings = {name: list(value) for name, value in asdict(options).items()}
        stamp = Fingerprint(grader=self.name, version=self.version, settings=settings)

        async def judge(goal: Goal, trajectory: Trajectory, blobs: Blobs) -> Verdict:
            missing = [word for word in options.words if word.casefold() not in trajectory.answer.casefold()]
            findings = tuple(
                Finding(check="mentions", status="fail", message=f"The answer does not mention {word!r}.", code="word")
                for word in missing
            )
            return Verdict(
                trajectory_id=trajectory.id,
                task_id=trajectory.task_id,
                status="fail" if missing else "pass",
                aspects={"outcome": Aspect(value=not missing)},
                findings=findings,
                fingerprint=stamp,
            )

        return PreparedJudge(self.name, stamp, judge)


MENTIONS = Mentions(
    name="mentions",
    summary="Passes an answer that mentions all of the given words.",
    version="1",
    options=Options,
    needs_model=False,
)
