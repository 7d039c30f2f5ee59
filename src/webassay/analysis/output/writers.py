"""A document written for the terminal, for Markdown, for a spreadsheet, and as a page."""

import csv
import io
from collections.abc import Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from webassay.analysis.output.document import Document, Section
from webassay.analysis.output.html import environment
from webassay.analysis.output.text import markdown_table, plain, rich_table
from webassay.core.text import printable


def to_markdown(document: Document) -> str:
    return "\n".join([f"# {plain(document.title)}", *in_markdown(document.sections)]) + "\n"


def in_markdown(sections: Sequence[Section]) -> list[str]:
    lines = []
    for section in sections:
        lines += ["", f"## {plain(section.title)}", ""]
        lines += [plain(section.note), ""] if section.note else []
        lines += markdown_table(section.headings, section.rows)
    return lines


def to_table(document: Document, most: int = 50) -> RenderableType:
    """A terminal is for looking, not for working through: of a long table only the first rows, and how many follow."""
    return Stack(Text(printable(document.title), style="bold"), *on_terminal(document.sections, most))


def on_terminal(sections: Sequence[Section], most: int | None = None) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for section in sections:
        if section.narrow == ():
            continue
        every = range(len(section.headings))
        places = [place for place in every if section.narrow is None or place in section.narrow]
        shown = [[row[place] for place in places] for row in section.rows[:most]]
        headings = [section.headings[place] for place in places]
        parts.append(rich_table(section.title, headings, shown, lines=section.lines))
        left = 0 if most is None else len(section.rows) - most
        notes = [section.note] * bool(section.note) + [f"... and {left} more rows."] * (left > 0)
        parts += [Text(printable(note, lines=True), style="dim") for note in notes]
    return parts


def to_csv(document: Document) -> str:
    section = document.spreadsheet or document.sections[-1]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(section.headings)
    writer.writerows([csv_cell(cell) for cell in row] for row in section.rows)
    return out.getvalue()


def csv_cell(text: str) -> str:
    # A spreadsheet would compute a name that starts like a formula.
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def to_html(document: Document) -> str:
    return environment.get_template("listing.html").render(title=document.title, sections=document.sections)
