"""WebVoyager's judge: the answer and the last screenshots, one question."""

import re
from dataclasses import dataclass

from webassay.judging.case import Case, PromptBuilder
from webassay.judging.judges.base import ModelJudge, Opinion, PictureOptions
from webassay.judging.ledger import JudgeQuestion, Ledger, Models
from webassay.judging.parsers import DRESS, Parsing, tidy

_GAP = r"(?:[^\w\n.,:;!?]|_)+"
"""Blanks, and marks such as those of bold text; never the end of a sentence."""
_FILLER = "(?:an?|the|yet|be|been|as|considered|deemed|rated|marked|complete|full|total|clear|real|really|quite)"
_VERDICT = re.compile(
    rf"(?P<negated>(?i:\b(?:not|never|no)|n['’]t)(?i:{_GAP}{_FILLER}){{0,3}}{_GAP})?"
    r"(?<![^\W_])(?P<word>SUCCESS(?:FUL)?|UNSUCCESSFUL|FAILURE)(?![^\W_])"
)


@dataclass(frozen=True, slots=True)
class WebVoyagerOptions(PictureOptions):
    parsing: Parsing = "robust"
    """How the reply is read; as-published repeats the mistakes of the authors' script."""
    last_images: int = 15
    """Screenshots shown, counted from the end; 0 shows all of them."""


async def _opine(case: Case, ledger: Ledger, models: Models, options: WebVoyagerOptions) -> Opinion:
    if options.parsing == "as-published" and not case.trajectory.answer:
        return Opinion(False, details={"rule": "no answer, no success"})
    shots = [frame for frame in case.frames if frame.screenshot]
    shown = shots[-options.last_images :] if options.last_images else shots

    def build() -> PromptBuilder:
        builder = PromptBuilder().data("task", case.goal.instruction).data("answer of the agent", case.answer)
        builder.note(f"The last {len(shown)} of {len(shots)} screenshots, in order:")
        for frame in shown:
            builder.picture(case.picture(frame))
        return builder

    reply = await ledger.text(models.outcome, JudgeQuestion("webvoyager"), build)
    return Opinion(read_verdict(reply, options.parsing))


def read_verdict(text: str, parsing: Parsing = "robust") -> bool | None:
    """SUCCESS or NOT SUCCESS."""
    if parsing == "as-published":
        if "NOT SUCCESS" in text:
            return False
        return True if "SUCCESS" in text else None
    found: bool | None = None
    for line in tidy(text).splitlines():
        said = {_meaning(match) for match in _VERDICT.finditer(line)}
        bare = re.sub(DRESS, "", _VERDICT.sub("", line)).lower()
        is_little_more = len(bare) <= 2 and bare != "no"
        if len(said) == 1 and (is_little_more or re.match("(final)?(verdict|evaluation)", bare)):
            meant = said.pop()
            found = found if meant is None else meant
    if found is not None:
        return found
    tail = tidy(text).rstrip(" \t\r\n*_`\"'“”‘’.!")
    last = list(_VERDICT.finditer(tail))
    return _meaning(last[-1]) if last and last[-1].end() == len(tail) else None


def _meaning(match: re.Match[str]) -> bool | None:
    """None: neither `NOT A FAILURE` nor a bare `SUCCESSFUL` is what was asked for."""
    negated = match["negated"] is not None
    if match["word"].startswith("SUCCESS"):
        return False if negated else True if match["word"] == "SUCCESS" else None
    return None if negated else False


WEBVOYAGER = ModelJudge(
    name="webvoyager",
    summary="WebVoyager: the answer and the last screenshots.",
    version="2",
    options=WebVoyagerOptions,
    as_published=WebVoyagerOptions(parsing="as-published", temperature=0.0, seed=42),
    sample_reply="NOT SUCCESS",
    opine=_opine,
    asks=("webvoyager",),
)
