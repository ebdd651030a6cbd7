"""Which lines of a traceback are the student's own, and how they are shown: the rest explains nothing to the reader."""

from __future__ import annotations

import ast
import linecache
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

from coursekit.errors import CODE

_KIT = str(Path(__file__).parent)
_FILE = re.compile(r'File "(?P<file>[^"]*)"')
_FRAME = re.compile(
    r'^ *File "(?P<file>[^"]*)", line (?P<line>\d+), in (?P<function>.*?)(?:  \*{1,2})?$(?:\n {4,8}(?P<code>\S.*)$)?',
    re.MULTILINE,
)
# Names that TensorFlow gives to its own operations, data sets and layers, before and after what went wrong.
_NOISE = re.compile(
    r"\{\{function_node [^}]*\}\}\s*|\s*\[Op:\w+\](?: name:.*)?|\s*for '\{\{node [^}]*\}\} = [^']*'"
    r"|Error in user-defined function passed to \w+:\d+ transformation with iterator: [\w:\[\]]+: "
    r"|Exception encountered when calling [^\n]*\n|outer_factory\.<locals>\.inner_factory\.<locals>\.|\btf__(?=\w+\(\))"
)
# What follows what went wrong: where a session's operation came from, and the arguments of a layer.
_AFTERMATH = re.compile(r"^\s*(?:Original stack trace for |(?:Call a|A)rguments received by )", re.MULTILINE)
# TensorFlow's exceptions bring pages of their own: where each operation of a graph came from.
_PAGES = ("Graph execution error", "in user code:")
_FIRST_OF_ERRORS = re.compile(r"\d+ root error\(s\) found\.\s*\(0\) \w+: (.*?)(?:\s*\(1\) .*)?", re.DOTALL)
MAX_CAUSE = 200  # characters of an exception's text
_NUMBERS = re.compile(r"(?:array\()?\[[\[\]\s\d.,+e-]{40,}(?:dtype=\w+)?\)?")  # an array, or as much as is there of one
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\bvs\.)\s+(?=[^a-z\s])|\s*;\s*NodeDef:")
_CODE_AT_END = re.compile(rf" {CODE.pattern}$")  # of the kit's own messages
# What TensorFlow says of well-known slips, and what they are.
_SLIPS = {
    r"`generator` yielded an element that did not match the expected structure": (
        "is there `return` for `yield` in the generator, or another output_signature than what it yields?"
    ),
    r"`generator` yielded an element": "the output_signature is not that of what the generator yields",
    r"`generator` must be a Python callable": "pass the function itself, without calling it",
    r"Length for attr 'output_(types|shapes)' of 0": (
        "a function given to the data set returned nothing: is there a `return` in its last line?"
    ),
    r"Cannot convert a symbolic (?:tf\.)?Tensor": (
        "a graph's tensors, as in `map` or a model function, have no numbers yet: use tf.… in place of np.…"
    ),
    r"numpy\(\) is only available when eager execution is enabled": (
        "is a Keras optimiser, or .numpy(), used in a graph, as that of a model function?"
    ),
    r"'str' object has no attribute 'compress'": "give Horovod hvd.Compression.fp16 or .none, not its name",
}


def is_cell(file: str) -> bool:
    """Whether this is code of a notebook cell, which exists in no file: only its lines are known."""
    entry = linecache.cache.get(file, ())
    return len(entry) > 1 and entry[1] is None


def is_library(file: str) -> bool:
    """Whether this is installed code, TensorFlow's own or the kit's, and not the student's."""
    if is_cell(file):
        return False
    if "site-packages" in file or "__autograph_generated_file" in file:
        return True
    return file.startswith((sys.prefix, sys.base_prefix, "<", _KIT))


def describe_place(file: str, line: int | str, function: str, source: str | None = None) -> str:
    """Return 'Cell In[5], line 3 in train: `code`', with the notebook's cell number where IPython knows it."""
    source = linecache.getline(file, int(line)) if source is None else source
    code = f": `{source.strip()}`" if source.strip() else ""
    return f"{cell_number(file) or Path(file).name}, line {line} in {function}{code}"


def name_cells(text: str) -> str:
    """Replace the file names that IPython invents for cells by the cells' numbers."""
    return _FILE.sub(lambda match: cell_number(match["file"]) or match[0], text)


def cell_number(file: str) -> str:
    """Return 'Cell In[5]' where IPython knows the file as a cell, else ''."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    number = getattr(getattr(shell, "compile", None), "_filename_map", {}).get(file)
    return "" if number is None else f"Cell In[{number}]"


def last_place(text: str) -> str:
    """Return the innermost line of the student's own in the text of a traceback, as `describe_place` tells it, or ''.

    A rank wrote the text: what is quoted comes from there or from a cell of this notebook, and from no file that it
    names.
    """
    own = [match for match in _FRAME.finditer(text) if not is_library(match["file"])]
    if not own:
        return ""
    file, line, function, code = own[-1].groups("")
    return describe_place(file, line, function, code or (None if is_cell(file) else ""))


def place_below(error: BaseException, num_frames: int) -> str:
    """Return the innermost line of the student's own, but in the outermost frames, that an exception came through.

    Lines in its text, as TensorFlow's pages have them, are further inside than those of its traceback.
    """
    frames = traceback.extract_tb(error.__traceback__)[num_frames:]
    own = [frame for frame in frames if not is_library(frame.filename)]
    place = describe_place(own[-1].filename, own[-1].lineno or 0, own[-1].name) if own else ""
    told = last_place(text_of(error))
    return told if told and not place.startswith(told) else place


def fault_in_syntax(name: str, cells: Mapping[str, str]) -> str:
    """Return where and why the last of these cells that is to define a name does not compile, '' where all do.

    `cells` holds by what to call them their texts, of Python without magics.
    """
    definition = re.compile(rf"^(?:(?:async +)?def|class) +{re.escape(name)}\b|^{re.escape(name)} *=", re.MULTILINE)
    for title, text in reversed([(title, text) for title, text in cells.items() if definition.search(text)]):
        try:
            compile(text, title, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except SyntaxError as error:  # noqa: PERF203  # a few cells
            line = f": `{error.text.strip()}`" if error.text and error.text.strip() else ""
            return f"{title} does not compile, line {error.lineno}{line}: {error.msg}"
    return ""


def students_traceback(error: BaseException) -> str:
    """Format a traceback with the student's own lines, or, where none has a part in it, with all but the kit's."""
    summary = traceback.TracebackException.from_exception(error)
    _keep_own(summary)
    told = text_of(error)
    return "".join(summary.format()).replace(told, _cause_and_places(told)).rstrip()


def text_of(error: BaseException) -> str:
    """Return an exception's text; Python's word for it where its own method raises, as a student's class may."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001  # it may do anything
        return "<exception str() failed>"


def _cause_and_places(text: str) -> str:
    """Return an exception's text; of a page of TensorFlow's what went wrong, and the student's lines that it names."""
    cause = text if cause_in(text) == text else short_cause(text)
    places = [] if cause == text else [match[0] for match in _FRAME.finditer(text) if not is_library(match["file"])]
    return "\n".join([cause, *places])


def _keep_own(summary: traceback.TracebackException) -> None:
    own = [frame for frame in summary.stack if not is_library(frame.filename)]
    others = [frame for frame in summary.stack if not frame.filename.startswith(_KIT)]
    summary.stack = traceback.StackSummary.from_list(own or others or summary.stack)
    for before in (summary.__cause__, summary.__context__):
        if before is not None:
            _keep_own(before)


def cause_in(text: str) -> str:
    """Return an exception's text; of the page that TensorFlow writes on a failed graph only what went wrong in it."""
    text = _AFTERMATH.split(_NOISE.sub("", text), maxsplit=1)[0]
    lines = [line.strip() for line in text.strip().splitlines()]
    if not lines or not lines[0].startswith(_PAGES):
        return text
    frames = [number for number, line in enumerate(lines) if line.startswith(("File ", "Detected at node"))]
    in_user_code = lines[0] == _PAGES[1]  # there, each line of a file is followed by its code, which may be empty
    first = frames[-1] + 1 + in_user_code if frames else 1
    told = " ".join(line for line in lines[first:] if line and not line.startswith(("[[", "Node: ")))
    if in_user_code:
        return re.sub(r"^\w+: ", "", told)
    errors = _FIRST_OF_ERRORS.fullmatch(told)
    return errors[1] if errors else told or lines[0]


def short_cause(text: str) -> str:
    """Return the first sentence of an exception's text, at most `MAX_CAUSE` characters, and what slip is known for it.

    Arrays become `[…]`, a traceback within the text is left out, and a code at its end stays.
    """
    cause = cause_in(text).partition("Traceback (most recent call last)")[0].rstrip()
    code = _CODE_AT_END.search(cause)
    words = cause[: code.start()] if code else cause
    sentence = _SENTENCE_END.split(" ".join(_NUMBERS.sub("[…]", words).split()), maxsplit=1)[0]
    if len(sentence) > MAX_CAUSE:
        sentence = sentence[: MAX_CAUSE - 1] + "…"
    slip = next((words for pattern, words in _SLIPS.items() if re.search(pattern, text)), "")
    told = f"{sentence.rstrip('.')}: {slip}" if slip else sentence
    return f"{told}{code[0]}" if code else told
