"""What a site served in one episode, and the text of it that a person can see: the site's own record.

It is made around the site, in its server process (`sites/recording.py`), and read when an episode is graded. A page is
a tree of nodes. A node holds the lines of text that stand in it, and the numbers of the nodes inside it; nodes with the
same content are stored once, so what all pages share (header, menu, footer) costs nothing.

Comparing happens on the plain form of a text, a list of tokens. That is what keeps 12 from being found in 112, 12.50,
1,120 or HOM-12.
"""

import re
import unicodedata
import zlib
from hashlib import blake2b
from typing import Literal, Self

import msgspec

ECHO = "\ue000\ue001"
"""In a text, what stands between these signs has nobody to vouch for it: the site may only repeat its visitor."""

LARGEST = 256 * 1024 * 1024
"""Bytes of an unpacked record; far more than one can hold that was made by us."""

ServedKind = Literal["document", "fragment", "picture", "other"]


class ServedAnswer(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One answer of a site, in the order in which they were given."""

    method: str
    path: str
    """With its query, as `kept_path` has it."""
    status: int
    kind: ServedKind
    digest: str
    """The body's; empty if there was none."""
    at: float = 0.0
    """Seconds since the world opened."""
    session: str = ""
    """Which cookies the visitor had, as an opaque id; empty: none."""
    start: bool = False
    """The harness asked for it, when it opened the start pages."""
    page: int | None = None
    """The node with its text, for documents and fragments."""
    by: Literal["", "browser", "other"] = ""
    """Whether the episode's browser asked, or some other program; empty: nobody knows."""


class ServedNode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    row: bool
    """One of several alike: a row of a table, an entry of a list, a card."""
    parts: tuple[str | int, ...]
    """Lines of text, and numbers of nodes; a node comes after those inside it."""


class ServedCells(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A column of a table, and the rows of which it was shown."""

    table: str
    column: str
    rows: list[tuple[str | int | float, ...]]
    """By primary key."""
    start: bool = False
    """On the start pages."""
    first: list[int] = []
    """For each row, which answer showed it first; empty: nobody knows."""


class ServedCount(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A value that a query computed and the site showed, to which each of the rows contributed that the task names."""

    table: str
    rows: list[tuple[str | int | float, ...]]
    value: str | int | float


class ServedRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    served: tuple[ServedAnswer, ...] = ()
    nodes: tuple[ServedNode, ...] = ()
    omitted: int = 0
    """Answers for whose text there was no room."""
    unlisted: int = 0
    """Answers of which not even the address is in here."""
    cells: tuple[ServedCells, ...] = ()
    """What was shown of the site's own rows, in whatever form."""
    counts: tuple[ServedCount, ...] = ()
    evidence: Literal["receipts", "texts"] = "texts"
    """With receipts, a page's text is only what the site vouches for; else it is all that stood there."""
    version: Literal[1] = 1

    def pack(self, level: int = 6) -> bytes:
        return zlib.compress(msgspec.json.encode(self), level)

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Raises ValueError or `zlib.error` if it is damaged."""
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, LARGEST)
        if not unpacking.eof:
            raise ValueError("the record is incomplete, or too large")
        record = msgspec.json.decode(text, type=cls)
        if not record._is_whole():
            raise ValueError("the record refers to a page that is not in it")
        return record

    def _is_whole(self) -> bool:
        for number, node in enumerate(self.nodes):
            for part in node.parts:
                if isinstance(part, int) and not 0 <= part < number:
                    return False
        return all(one.page is None or 0 <= one.page < len(self.nodes) for one in self.served)


LONGEST_PATH = 500


def kept_path(path: str) -> str:
    """An address of any length, short enough to keep all of them; still different from every other."""
    if len(path) <= LONGEST_PATH:
        return path
    return f"{path[:LONGEST_PATH]}…{blake2b(path.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


SERVED_TYPE = "application/vnd.webassay.served+zlib"

# --- comparing --------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
    (?: (?<!\w)-(?=\d) )? \w+              # with its sign, which is no hyphen
    (?: [-'] \w+ | (?<=\d)[.,:/]\d\w* )*   # 1,234.50  HOM-44321  05/01/2024
    | (?: (?<!\w)-(?=[$€£]\d) )?           # -$5 is not $5
      [^\w\s!-#&-/:-@[-`{-~]               # signs that mean something by themselves: $ % ★
    """,
    re.VERBOSE,
)
_SAME = str.maketrans(
    dict.fromkeys("‐‑‒–−﹘﹣－", "-") | dict.fromkeys("‘’‛′", "'") | dict.fromkeys("“”„‟″«»…·•—―", " ")
)


def folded(text: str) -> str:
    """Without differences of case, and of signs that look alike."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_SAME)
    return text.casefold()


def plain(text: str) -> str:
    """Its tokens, with one space between them: without differences of case, spacing, quotes and punctuation."""
    return " ".join(_TOKEN.findall(folded(text)))
