"""Rows of units, one flat dictionary each, written for a program or made into a data frame."""

import csv
import importlib
import importlib.util
import io
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_type_hints

from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.output.writers import csv_cell
from webassay.core.errors import InputError, to_install

Rows = Sequence[Mapping[str, Any]]

FRAMES = ("pandas", "polars")
_SQL = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
_COUNTED = {"actions": int, "tools": int, "score": float}
"""What `ResultRow.as_dict` makes into numbers."""


def rows_to_csv(rows: Rows) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(_columns(rows)), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: csv_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
    return out.getvalue()


def rows_to_json(rows: Rows) -> str:
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def rows_to_parquet(rows: Rows) -> bytes:
    """Columns have the same types in every file, also where they are empty."""
    try:
        duckdb = importlib.import_module("duckdb")
    except ImportError:
        raise InputError("Parquet files need DuckDB, which is not installed.", hint=to_install("parquet")) from None
    with tempfile.TemporaryDirectory(prefix="webassay-") as folder, duckdb.connect(":memory:") as db:
        lines, file = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet")
        lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        read = f"read_json($1, format = 'newline_delimited', columns = {_columns(rows)})"
        db.execute(f"COPY (SELECT * FROM {read}) TO '{file}' (FORMAT parquet)", [str(lines)])
        return file.read_bytes()


def _columns(rows: Rows) -> dict[str, str]:
    """Every name that occurs, with its type. Groupings of a plug-in are in the rows of some runs only."""
    known = {**get_type_hints(ResultRow), **_COUNTED}
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _sql(known.get(name)) for name in names}


def _sql(hint: Any) -> str:
    return next((sql for kind, sql in _SQL.items() if hint in (kind, kind | None)), "VARCHAR")


def no_report(_: object) -> NoReturn:
    raise InputError("Parquet holds rows of units, not a report.", hint="webassay report RUN --units --format parquet")


def frame_of(rows: Rows, library: str = "") -> Any:
    """A DataFrame of the library that is named, or else of the first one that is installed."""
    if library and library not in FRAMES:
        raise InputError(f"There are no frames of {library!r}.", hint=f"Name one of: {', '.join(FRAMES)}.")
    for name in (library,) if library else FRAMES:
        if importlib.util.find_spec(name) is not None:
            return importlib.import_module(name).DataFrame(rows)
    raise InputError(
        f"A data frame needs {library or ' or '.join(FRAMES)}, which is not installed.",
        hint="Install it, or use the rows as they are: Workbench().rows(run).",
    )
