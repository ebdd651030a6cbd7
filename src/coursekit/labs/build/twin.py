"""The script twin of a notebook: its cells with the tag `script` as one program that a launcher starts on N ranks."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from coursekit.errors import CourseKitError
from coursekit.labs.affected_tests import global_names
from coursekit.labs.build.script_cells import (
    SCRIPT,
    TwinError,
    find_script,
    horovod_alias,
    refuse_unknown_names,
    starts_and_ends_with_definition,
)
from coursekit.labs.build.script_parameters import option_lines, parse_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TWIN_NAME = "train.py"
MAIN = "main"

# What a twin holds: stubs, the solution, or a student's answers.
KINDS = ("release", "solution", "answers")

_HEADING = re.compile(r"^# +(.+)$", re.MULTILINE)
# At the end of a twin, so that later builds know their own work from somebody's edits.
_MARK = re.compile(rf"\n\n# Made, not edited: ({'|'.join(KINDS)}) ([0-9a-f]{{64}})\n\Z")

HEAD = '''\
"""{title}: the notebook's training as a script.

{made}

Start it on as many ranks as you like, here on two:

    horovodrun -np 2 python {name}
    mpirun -np 2 python {name}
    srun --ntasks=2 python {name}

Parameters of the notebook are options: python {name} --help.
"""

import argparse
import json
'''

OPTIONS = """\
if __name__ == "__main__":  # the command line may replace what stands above
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
{options}    globals().update(vars(_parser.parse_args()))
"""

END = '''\
def _plain(value):
    """Return as numbers or text what JSON cannot hold."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


if __name__ == "__main__":
    _result = {main}()
    if {hvd}.rank() == 0:
        print("result:", json.dumps(_result, default=_plain), flush=True)
    {hvd}.shutdown()
'''


def twin_files(notebook: Mapping[str, Any], kind: str) -> dict[str, bytes]:
    """Return the twin of a notebook of the builder's, by its file name; nothing when it has no script cells.

    The notebook's `kind`, for the mark, is "solution", or "release" with stubs for answers.

    Raises:
        TwinError: the script cells make no program.
    """
    if not any(is_script(cell) for cell in notebook["cells"]):
        return {}
    source = notebook["metadata"]["coursekit"]["generated_from"]
    made = f"Made by `coursekit build` from {source}: change that, not this file."
    if kind == "release":
        made += f"\n`coursekit script {source.split('/')[-2][:2]}` makes the one with the answers of your notebook."
    return {TWIN_NAME: twin_text(notebook, made, kind).encode()}


def is_script(cell: Mapping[str, Any]) -> bool:
    """Whether a cell goes into the twin."""
    return cell["cell_type"] == "code" and SCRIPT in cell["metadata"].get("tags", ())


def check_twin(notebook: Mapping[str, Any]) -> list[str]:
    """Refuse script cells that make no program, and return the names of the parameters that they use.

    Raises:
        TwinError: code is broken or uses unknown names, there is no `main` or no Horovod; with the cell to blame.
    """
    script = find_script(notebook)
    refuse_unknown_names(script)
    names = global_names(script.text)
    last = script.cells[-1].cell
    if MAIN not in names.bound:
        raise TwinError(last, f"no script cell defines `{MAIN}`, which the script calls on every rank: write it")
    if not horovod_alias(script.text):
        raise TwinError(last, "no script cell has `import horovod.tensorflow as hvd`, which the script needs")
    return sorted(names.used & global_names(script.parameters).bound)


def twin_text(notebook: Mapping[str, Any], made: str, kind: str, name: str = TWIN_NAME) -> str:
    """Return the text of a notebook's twin, formatted as `ruff format` would.

    Args:
        notebook: with at least one script cell; answers may still be stubs.
        made: who made it from what, for the head.
        kind: what it holds, for the mark at its end: one of `KINDS`.
        name: its file's name, for the head.

    Raises:
        TwinError: the script cells are not Python.
    """
    script = find_script(notebook)
    # Stubs use no parameters, so the builder has noted those of the solution.
    noted = notebook["metadata"].get("coursekit", {}).get("script_parameters", [])
    parameters = parse_parameters(script.parameters, {*noted, *global_names(script.text).used})
    texts = [cell.text for cell in script.cells]
    blocks = [
        _head(notebook, made, name),
        *texts[: script.position],
        *([parameters.text] if parameters.text else []),
        OPTIONS.format(options="".join(f"{line}\n" for o in parameters.options for line in option_lines(o, indent=4))),
        *texts[script.position :],
        END.format(main=MAIN, hvd=horovod_alias(script.text) or "hvd"),
    ]
    return marked(_join(blocks), kind)


def marked(text: str, kind: str) -> str:
    """Return the text of a twin with its mark."""
    return f"{text}\n\n# Made, not edited: {kind} {_checksum(kind, text)}\n"


def kind_of(path: Path) -> str:
    """Return what the twin in a file holds, or '' when the file is not a twin or was edited."""
    text = path.read_text(encoding="utf-8", errors="replace")
    found = _MARK.search(text)
    return found[1] if found and _checksum(found[1], text[: found.start()]) == found[2] else ""


def refuse_edited_twin(path: Path) -> None:
    """Refuse to go on when a file is not the builder's own twin.

    Raises:
        CourseKitError: somebody wrote or edited it, or made it from a student's answers.
    """
    if path.exists() and kind_of(path) not in {"release", "solution"}:
        raise CourseKitError(
            f"{path} is not as the builder made it and may hold a student's answers: "
            "move it out of the way and build again."
        )


def _checksum(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()


def _head(notebook: Mapping[str, Any], made: str, name: str) -> str:
    texts = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    heading = next((found[1] for text in texts if (found := _HEADING.search(text))), "A lab")
    return HEAD.format(title=_docstring_text(heading.strip()), made=_docstring_text(made), name=_docstring_text(name))


def _docstring_text(text: str) -> str:
    """Return text so that it can stand in a docstring with double quotes."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _join(blocks: list[str]) -> str:
    """Put blocks below each other: two blank lines around definitions, one elsewhere."""
    text, after_definition = "", False
    for block in blocks:
        starts, ends = starts_and_ends_with_definition(block)
        blank = "\n\n" if starts or after_definition else "\n"
        text += f"{blank if text else ''}{block.rstrip()}\n"
        after_definition = ends
    return text
