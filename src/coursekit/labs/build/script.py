"""Make a lab's script from the notebook's cells with the tag `script`: a program that a launcher starts on N ranks.

The builder writes it next to the notebook: with stubs for students, and with the solution in `build/source`.
`coursekit script` and `coursekit submit --train` write it with the answers from a student's own notebook.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.labs.build.regions import CODE_STUB, without_markers
from coursekit.labs.build.script_frame import end, frame_of, head, options
from coursekit.labs.cells import cell_name, global_names

SCRIPT, PARAMETERS = "script", "parameters"  # tags of cells
SCRIPT_NAME = "train.py"
KINDS = ("release", "solution", "answers")  # with stubs, the solution, or a student's answers

_HEADING = re.compile(r"^# +(.+)$", re.MULTILINE)
_MAGIC_LINE = re.compile(r"\s*[%!]")
_KNOWN_NAMES = {*dir(builtins), "__file__", "__name__", "__doc__"}
# The mark at the end of a script shows later builds whether a person has edited it.
_MARK = re.compile(rf"\n\n# Made, not edited: ({'|'.join(KINDS)}) ([0-9a-f]{{64}})\n\Z")


class ScriptError(CourseKitError):
    """The script cells do not form a program; `cell` is the cell at fault."""

    def __init__(self, cell: Mapping[str, Any], sentence: str, code: str) -> None:
        super().__init__(sentence, code)
        self.cell = cell


def is_script(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell goes into the script."""
    return cell["cell_type"] == "code" and SCRIPT in cell["metadata"].get("tags", ())


def is_parameters(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell holds the notebook's parameters."""
    return cell["cell_type"] == "code" and PARAMETERS in cell["metadata"].get("tags", ())


def parameters_of(notebook: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the name, default and comment of each parameter."""
    from papermill.translators import PythonTranslator  # heavy

    cells = [cell for cell in notebook["cells"] if is_parameters(cell)]
    return [(one.name, one.default, one.help) for cell in cells for one in PythonTranslator.inspect(cell)]


def check_script(notebook: Mapping[str, Any]) -> list[str]:
    """Refuse script cells that form no program, and return the names of the parameters that they use.

    Raises:
        ScriptError: a cell is not valid Python or uses an unknown name, or `main` or the framework is not defined.
    """
    codes = _codes(notebook)
    names = global_names("\n".join(code for _, code in codes))
    parameters = {name for name, *_ in parameters_of(notebook)}
    for cell, code in codes:
        for name in sorted(global_names(code).used - names.bound - parameters - _KNOWN_NAMES):
            raise ScriptError(
                cell,
                f"the script does not define `{name}`: define it in a cell with the tag `{SCRIPT}`",
                "script.unknown-name",
            )
    for name in ("main", frame_of(notebook).module):
        if name not in names.bound:
            raise ScriptError(
                codes[-1][0], f"no script cell defines `{name}`, which the script uses: add it", "script.not-defined"
            )
    return sorted(names.used & parameters)


def script_files(notebook: Mapping[str, Any], kind: str) -> dict[str, bytes]:
    """Return {file name: script} for a notebook that the builder made, or {} if it has no script cells.

    `kind` goes into the script's mark: "solution", or "release" for a notebook that has stubs in place of answers.
    """
    if not any(is_script(cell) for cell in notebook["cells"]):
        return {}
    source = notebook["metadata"]["coursekit"]["generated_from"]
    made = f"Made by `coursekit build` from {source}: edit that file, not this one."
    if kind == "release":
        made += f"\n`coursekit script {source.split('/')[-2][:2]}` makes a script with the answers from your notebook."
    return {SCRIPT_NAME: script_text(notebook, made, kind).encode()}


def answered_script(notebook: Mapping[str, Any], path: Path, made: str) -> str:
    """Return the text of a lab's script with the answers from a student's notebook, which was read from `path`.

    Raises:
        CourseKitError: the lab has no script, answers are missing, or the cells form no program.
    """
    if not any(map(is_script, notebook["cells"])):
        raise CourseKitError(f"the lab of {path.name} has no script: run its notebook instead.", "script.none")
    missing = missing_answers(filter(is_script, notebook["cells"]))
    if missing:
        raise CourseKitError(f"{path} has no answer yet in {', '.join(missing)}: write it first.", "answer.missing")
    try:
        check_script(notebook)
        return script_text(notebook, made, "answers")
    except ScriptError as error:
        raise CourseKitError(f"{path}, cell {cell_name(error.cell)}: {error}.") from None


def script_text(notebook: Mapping[str, Any], made: str, kind: str) -> str:
    """Return the text of a notebook's script; its head contains `made`, which says how the script was made.

    Answers may still be stubs; `kind`, one of `KINDS`, says whether they are, and goes into the script's mark.

    Raises:
        ScriptError: a script cell is not valid Python.
    """
    codes = _codes(notebook)
    # Stubs use no parameters, so the builder has recorded the parameters that the solution uses.
    used = {*notebook["metadata"].get("coursekit", {}).get("script_parameters", [])}
    used |= global_names("\n".join(code for _, code in codes)).used
    parameters = [parameter for parameter in parameters_of(notebook) if parameter[0] in used]
    assigned = [f"{each} = {default}" + (f"  # {about}" if about else "") for each, default, about in parameters]
    place = next((i for i, cell in enumerate(notebook["cells"]) if is_parameters(cell)), 0)
    num_before = sum(map(is_script, notebook["cells"][:place]))
    blocks = [code for _, code in codes]
    blocks[num_before:num_before] = ["\n".join(assigned), options("".join(map(_option, parameters)))]
    texts = (cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    title = next((found[1].strip() for text in texts if (found := _HEADING.search(text))), "A lab")
    frame = frame_of(notebook)
    blocks = [head(frame, title, made, SCRIPT_NAME), *blocks, end(frame)]
    text = "\n\n\n".join(filter(None, (block.strip("\n") for block in blocks))) + "\n"
    return f"{text}\n\n# Made, not edited: {kind} {_checksum(kind, text)}\n"


def missing_answers(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of code cells that have a stub in place of an answer."""
    return [cell_name(cell) for cell in cells if cell["cell_type"] == "code" and CODE_STUB in cell["source"]]


def kind_of(path: Path) -> str:
    """Return the kind of the script in a file; '' if the file is not such a script or has been edited."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    found = _MARK.search(text)
    return found[1] if found and _checksum(found[1], text[: found.start()]) == found[2] else ""


def _checksum(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()


def _option(parameter: tuple[str, str, str]) -> str:
    """Return the line that makes a parameter an option; '' if its value cannot be given on a command line."""
    name, default, about = parameter
    try:
        kind = type(ast.literal_eval(default))
    except (ValueError, SyntaxError):
        kind = type(None)
    if kind not in {bool, int, float, str}:
        return ""
    takes = "action=argparse.BooleanOptionalAction" if kind is bool else f"type={kind.__name__}"
    # BooleanOptionalAction shows its default by itself (up to Python 3.12).
    shown = about.replace("%", "%%") if kind is bool else f"{about.replace('%', '%%')} (default: %(default)r)".strip()
    option = json.dumps("--" + name.replace("_", "-"))
    return (
        f"    _parser.add_argument({option}, {takes}, default={name}, help={json.dumps(shown, ensure_ascii=False)})\n"
    )


def _codes(notebook: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], str]]:
    return [(cell, _code(cell)) for cell in notebook["cells"] if is_script(cell)]


def _code(cell: Mapping[str, Any]) -> str:
    """Return a cell's code without region markers and without magics, which work only in notebooks."""
    code = without_markers(cell["source"])
    try:
        ast.parse(code)
    except SyntaxError:  # only now, because in a long formula, a line of Python may also begin with %
        code = "\n".join("" if _MAGIC_LINE.match(line) else line for line in code.splitlines())
    try:
        ast.parse(code)
    except SyntaxError as error:
        raise ScriptError(
            cell, f"this script cell is not valid Python: {error.msg} in its line {error.lineno}", "script.no-python"
        ) from None
    return code.strip("\n")
