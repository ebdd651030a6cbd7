"""The block of TOML in comments with which an answer of a bank, or an attack, begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.toml_files import tomllib  # type: ignore[attr-defined]  # its own, or tomli

END = "# ///"


def read_block(path: Path, lines: Sequence[str], kind: str) -> tuple[dict[str, Any], int]:
    """Return the values of a file's block, and the number of the block's last line, from 1.

    Raises:
        CourseKitError: the file does not begin with a block of this kind, or it is not TOML.
    """
    start = f"# /// {kind}"
    first = next((i for i, line in enumerate(lines, 1) if line.strip()), 1)
    if [*lines[first - 1 : first]] != [start] or END not in lines:
        raise CourseKitError(f"{path}:{first}: it starts with a block from the line {start!r} to the line {END!r}.")
    end = lines.index(END) + 1
    try:
        return tomllib.loads("\n" * first + "\n".join(line[2:] for line in lines[first : end - 1])), end
    except tomllib.TOMLDecodeError as error:
        raise CourseKitError(f"{path}: the block at the top is not valid TOML ({error}).") from None
