"""Rows of the Swapmeet program as typed data frames."""

from __future__ import annotations

import functools
import json
import math
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Iterable, Literal, Union, overload

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["columns", "program", "read"]

Path = Union[str, "os.PathLike[str]"]

# The largest integer that an integer column can contain in pandas and in polars.
_LARGEST = 2**64 - 1


def program() -> str:
    """Return the path of the ``swapmeet`` program: the one in this package, otherwise the one on PATH.

    Raise ``FileNotFoundError`` if there is neither.
    """
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "swapmeet")
    if os.access(own, os.X_OK):
        return own
    # The command `swapmeet` of this package may be on PATH, too. It must not start itself.
    this = os.path.realpath(sys.argv[0]) if sys.argv and sys.argv[0] else ""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("swapmeet", path=folder) if folder else None
        if found and os.path.realpath(found) != this:
            return found
    raise FileNotFoundError(f"no program `swapmeet`: expected {own}, or a folder of PATH that contains it")


def main() -> None:
    """Replace this process by the program. This is the command ``swapmeet`` of this package."""
    os.execv(program(), ["swapmeet", *sys.argv[1:]])


@functools.lru_cache(maxsize=None)
def _kinds() -> dict[str, str]:
    output = subprocess.run(
        [program(), "list", "columns", "--format", "json"], check=True, capture_output=True, text=True
    )
    return {column["name"]: column["type"] for column in json.loads(output.stdout)}


def columns() -> dict[str, str]:
    """Return the columns of rows, in order, with their types: ``string``, ``integer`` or ``number``."""
    return dict(_kinds())


@overload
def read(files: Path | Iterable[Path], library: Literal["pandas"] = "pandas") -> pandas.DataFrame: ...


@overload
def read(files: Path | Iterable[Path], library: Literal["polars"]) -> polars.DataFrame: ...


def read(files: Path | Iterable[Path], library: str = "pandas") -> Any:
    """Read files of rows (``swapmeet run --out rows.csv``) into one frame.

    Each column has a fixed type: string, integer, or floating-point number. There is one
    exception: if a value of an integer column exceeds 64 bits, the column has floating-point
    numbers. A value is missing if its column does not apply to the row. If a file is older and has
    no column of this name, all of its values are missing. Columns that this version does not know
    are strings.

    The numbers of specs, such as ``tokens`` and ``skew`` of a workload, follow as columns of
    floating-point numbers; sizes are in bytes. The name of such a column has a prefix, as in
    ``machine.startup_us``, if several specs have it or if it is the name of another column. A value
    is missing if the spec does not state it.

    Raise ``ValueError`` if a file has no rows of Swapmeet, if a field is not a number, or if the
    library is neither ``pandas`` nor ``polars``. The message names the file, the line and the
    column of the field.
    """
    if library not in ("pandas", "polars"):
        raise ValueError(f"library: {library!r}, expected 'pandas' or 'polars'")
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if not paths:
        raise ValueError("no files of rows were given")
    texts = _texts(paths)
    values = {name: _typed(cells, _kinds().get(name, "string")) for name, cells in texts.items()}
    values.update(_numbers(values))
    return _pandas(values) if library == "pandas" else _polars(values)


def _texts(paths: list[Path]) -> dict[str, list[tuple[str, str]]]:
    """Return the cells of each column, each with its location for error messages."""
    import csv

    # By default, the reader limits the length of a field. A note may be longer.
    csv.field_size_limit(sys.maxsize)
    known = list(_kinds())
    rows: list[tuple[str, dict[str, str]]] = []
    names = dict.fromkeys(known)
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            if header[:2] != known[:2]:
                raise ValueError(f"{os.fspath(path)}:1: no rows of swapmeet: expected a header that begins with {','.join(known[:2])}")
            names.update(dict.fromkeys(header))
            for cells in reader:
                place = f"{os.fspath(path)}:{reader.line_num}"
                if len(cells) != len(header):
                    raise ValueError(f"{place}: {len(cells)} cells, expected {len(header)}")
                rows.append((place, dict(zip(header, cells))))
    return {name: [(f"{place}: {name}", row.get(name, "")) for place, row in rows] for name in names}


def _typed(cells: list[tuple[str, str]], kind: str) -> tuple[str, list[Any]]:
    """Return the values of a column and their type: ``string``, ``integer`` or ``number``."""
    if kind == "string":
        return kind, [_unquoted(text) for _, text in cells]
    make = int if kind == "integer" else float
    values = []
    for place, text in cells:
        try:
            values.append(make(text) if text else None)
        except ValueError:
            what = "a whole number" if kind == "integer" else "a number"
            raise ValueError(f"{place}: {text!r}, expected {what}, or nothing") from None
    if kind == "integer" and any(value is not None and value > _LARGEST for value in values):
        return "number", [None if value is None else float(value) for value in values]
    return kind, values


def _numbers(columns: dict[str, tuple[str, list[Any]]]) -> dict[str, tuple[str, list[Any]]]:
    """Return a column for each number of the specs of all rows."""
    own, definitions = columns["machine"][1], columns["machine_definition"][1]
    specs = {kind: columns[kind][1] for kind in ("workload", "topology", "algorithm")}
    specs["machine"] = [definition or machine for machine, definition in zip(own, definitions)]
    found: dict[str, dict[str, list[Any]]] = {}
    for kind, texts in specs.items():
        for row, text in enumerate(texts):
            for key, value in _arguments(text).items():
                found.setdefault(key, {}).setdefault(kind, [None] * len(texts))[row] = value
    return {
        key if len(kinds) == 1 and key not in columns else f"{kind}.{key}": ("number", values)
        for key, kinds in found.items()
        for kind, values in kinds.items()
    }


@functools.lru_cache(maxsize=None)
def _arguments(spec: str) -> dict[str, float]:
    """Return the numbers of a spec, ``name:word,key=value,..``, by their keys."""
    pieces, depth = [""], 0
    for letter in spec.partition(":")[2]:
        # A comma in parentheses belongs to a nested spec.
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    pairs = [piece.partition("=") for piece in pieces if "=" in piece.partition("(")[0]]
    numbers = {key: _number(value) for key, _, value in pairs}
    return {key: value for key, value in numbers.items() if value is not None}


def _number(text: str) -> float | None:
    """Return a decimal number, or a size in bytes; ``None`` for other texts."""
    units = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    digits = text.rstrip("BKMGi")
    try:
        number = float(digits) * units.get(text[len(digits):] or "B", math.nan)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _unquoted(text: str) -> str:
    """Return the text without its apostrophe, which keeps spreadsheets from reading the text as a formula."""
    is_quoted = text.startswith("'") and text.lstrip("'").startswith(("=", "+", "-", "@", "\t", "\r"))
    return text[1:] if is_quoted else text


def _pandas(columns: dict[str, tuple[str, list[Any]]]) -> pandas.DataFrame:
    import pandas

    types = {"string": "string", "integer": "UInt64", "number": "float64"}
    return pandas.DataFrame({name: pandas.array(values, dtype=types[kind]) if kind != "number"
                             else pandas.Series(values, dtype="float64") for name, (kind, values) in columns.items()})


def _polars(columns: dict[str, tuple[str, list[Any]]]) -> polars.DataFrame:
    import polars

    types = {"string": polars.String, "integer": polars.UInt64, "number": polars.Float64}
    return polars.DataFrame({name: polars.Series(name, values, dtype=types[kind]) for name, (kind, values) in columns.items()})
