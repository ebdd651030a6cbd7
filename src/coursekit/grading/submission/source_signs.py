"""What the source of a cell shows of an attempt, found in its syntax tree; a program of its own.

A hostile source can crash the parser, so this runs in a process that may die: it reads [[name, source], ...] as JSON
from standard input and writes [[kind, what, name, line], ...] to standard output.
It needs the standard library alone.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from typing import TYPE_CHECKING

from coursekit.grading.submission import source_words as words
from coursekit.grading.submission.source_names import Names, imported, literal, root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Found = tuple[str, str]  # kind, what
    Sign = tuple[str, str, int]  # kind, what, line

MAX_SOURCE_LENGTH = 200_000  # characters; longer ones are not parsed
MIN_CASES = 3  # of a table of results
NUM_FOR_CLASS = 3  # arguments of `type` that make a class
COMMON_NAMES = {"signal", "site", "resource"}  # of parts of honest libraries, as tf.signal
MAGIC = re.compile(r"^(\s*)(?:[%!]|[\w., ]+=\s*[!%])(.*)$")
SHELL_MAGIC = re.compile(
    r"^\s*(?:[\w., ]+=\s*)?"
    r"(?:!|%%?(?:sh|bash|sx|system|script|perl|ruby|python\d?|pypy|alias|rehashx|run|load|cd|html|javascript)\b)"
)
NEW_LINE = re.compile(r"\r\n|\r|\n")  # for Python
TURNING = re.compile(r"[\u202a-\u202e\u2066-\u2069]")  # what is shown is in another order than what is run
WORD = re.compile(r"[A-Za-z_][\w.]*")


def signs_in(source: str) -> Iterator[Sign]:
    """Yield what one cell shows."""
    if len(source) > MAX_SOURCE_LENGTH:
        yield "unreadable", f"{len(source)} characters", 1
        return
    # IPython ends lines where Python does not, in a comment for instance: magics are looked for in its lines.
    for number, line in enumerate(source.splitlines(), 1):
        if SHELL_MAGIC.match(line):
            yield "shell", line.strip()[:40], number
        elif MAGIC.match(line):  # which may run what stands behind it, as `%time` does
            yield from ((kind, what, number) for kind, what, _ in _signs_in_words(line))
    lines = NEW_LINE.split(source)
    for number, line in enumerate(lines, 1):
        if TURNING.search(line):
            yield "text", "a character that turns the direction of writing", number
    try:
        tree = ast.parse("\n".join(MAGIC.sub(r"\1pass", line) for line in lines))
    except (RecursionError, MemoryError):
        yield "unreadable", "nested too deep", 1
        return
    except (SyntaxError, ValueError):
        yield from _signs_in_words(source)
        return
    yield from _signs_in_tree(tree)


def _signs_in_tree(tree: ast.Module) -> Iterator[Sign]:
    names = Names(tree)
    for node in ast.walk(tree):
        for kind, what in MATCHERS[type(node)](node, names) if type(node) in MATCHERS else ():
            yield kind, what, getattr(node, "lineno", 1)


def _signs_in_words(source: str) -> Iterator[Sign]:
    """Yield the suspicious words of a text that is not Python: it may be that for IPython."""
    for number, line in enumerate(NEW_LINE.split(source), 1):
        for word in WORD.findall(line):
            if "." in word or "_" in word or word in {"subprocess", "socket", "ctypes", "sqlite3"}:
                yield from ((kind, what, number) for kind, what in _known(word))


def _in_import(node: ast.Import | ast.ImportFrom, _names: Names) -> Iterator[Found]:
    for _, full_name in imported(node):
        yield from _known(full_name)
        yield from _known_at_the_end(f"{full_name}.")


def _in_name(node: ast.Name, names: Names) -> Iterator[Found]:
    name = names.dotted(node)
    if isinstance(node.ctx, ast.Load):
        if name in names.called.values() or "." not in name:
            yield from (*_known(name), *_known_at_the_end(name))
    elif node.id in words.KIT_NAMES:
        yield "grader", f"{node.id} = …"


def _in_attribute(node: ast.Attribute, names: Names) -> Iterator[Found]:
    name, root = names.dotted(node), root_of(node)
    yield from ((kind, node.attr) for kind, attributes in words.ATTRIBUTES.items() if node.attr in attributes)
    if isinstance(node.ctx, ast.Load):
        yield from (*_known(name), *_known_at_the_end(name))
        if node.attr.lstrip("_") in words.HIDDEN_MODULES and name.partition(".")[0] != node.attr:
            yield "imports", name or node.attr
    elif isinstance(root, ast.Call) or (isinstance(root, ast.Name) and root.id in names.modules):
        yield "patched", name or node.attr


def _in_constant(node: ast.Constant, names: Names) -> Iterator[Found]:
    if isinstance(node.value, (str, bytes)) and id(node) not in names.remarks:
        text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        yield from ((kind, repr(text[:40])) for kind, pattern in words.TEXTS if pattern.search(text))


def _in_class(node: ast.ClassDef, names: Names) -> Iterator[Found]:
    bases = {names.dotted(base) for base in node.bases}
    methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    methods |= {names.dotted(target) for one in node.body if isinstance(one, ast.Assign) for target in one.targets}
    odd = sorted(bases & words.ODD_BASES | methods & words.ODD_METHODS | {node.name} & words.KIT_NAMES)
    if odd:
        yield "odd class", f"class {node.name}: {', '.join(odd)}"


def _in_handler(node: ast.ExceptHandler, names: Names) -> Iterator[Found]:
    if names.dotted(node.type) in {"BaseException", "KeyboardInterrupt"}:
        yield "swallows", f"except {names.dotted(node.type)}"


def _in_dict(node: ast.Dict, _: Names) -> Iterator[Found]:
    cases = [key for key in node.keys if isinstance(key, ast.Tuple)]  # arguments of a call, when they are numbers
    if sum(all(isinstance(one, ast.Constant) for one in key.elts) for key in cases) >= MIN_CASES:
        yield "overfitting", f"a table of {len(node.keys)} cases"


def _in_call(node: ast.Call, names: Names) -> Iterator[Found]:
    name = names.dotted(node.func)
    if name in CALL_MATCHERS:
        yield from CALL_MATCHERS[name](node, names)


def _in_setattr(node: ast.Call, names: Names) -> Iterator[Found]:
    if node.args:
        root = root_of(node.args[0])
        if not isinstance(root, ast.Name) or root.id in names.modules | {"__builtins__", "builtins"}:
            yield "patched", names.dotted(node.func)


def _in_getattr(node: ast.Call, names: Names) -> Iterator[Found]:
    if len(node.args) > 1:
        owner, attribute = node.args[:2]
        if isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
            yield from _in_attribute(ast.Attribute(owner, attribute.value, ast.Load()), names)
        else:
            yield "hidden code", "getattr(…, …)"


def _in_dunder_import(node: ast.Call, names: Names) -> Iterator[Found]:
    name = names.dotted(node)
    yield from _known(name) if name else [("hidden code", "__import__(…)")]


MATCHERS: dict[type[ast.AST], Callable[..., Iterable[Found]]] = {  # by kind of node
    ast.Import: _in_import,
    ast.ImportFrom: _in_import,
    ast.Name: _in_name,
    ast.Attribute: _in_attribute,
    ast.Constant: _in_constant,
    ast.ClassDef: _in_class,
    ast.FunctionDef: lambda node, _: [("grader", f"def {node.name}")] if node.name in words.KIT_NAMES else [],
    ast.ExceptHandler: _in_handler,
    ast.Dict: _in_dict,
    ast.Call: _in_call,
}
CALL_MATCHERS: dict[str, Callable[..., Iterable[Found]]] = {  # by what is called
    "setattr": _in_setattr,
    "delattr": _in_setattr,
    "getattr": _in_getattr,
    "__import__": _in_dunder_import,
    "float": lambda node, _: [("odd result", "float('nan')")] if [*map(literal, node.args[:1])] == ["nan"] else [],
    "type": lambda node, _: [("odd class", "type(…, …, …)")] if len(node.args) == NUM_FOR_CLASS else [],
}


def _known(name: str) -> Iterator[Found]:
    """Yield what the tables say of a dotted name."""
    for kind, names in (*words.MODULES.items(), *words.CALLS.items()):
        if any(name == one or name.startswith(f"{one}.") for one in names.split()):
            yield kind, name


def _known_at_the_end(name: str) -> Iterator[Found]:
    """Yield what the tables say of a module that is reached through another: `tempfile._os.fork`."""
    parts = [part.lstrip("_") or part for part in name.split(".")]
    for start in range(1, len(parts) - 1):
        if parts[start] not in COMMON_NAMES:
            yield from ((kind, name) for kind, _ in _known(".".join(parts[start:])))


def main() -> None:
    """Be the program."""
    found = []
    for name, source in json.load(sys.stdin):
        lines: dict[Found, int] = {}  # the first of each finding
        for kind, what, line in signs_in(source):
            lines.setdefault((kind, what), line)
        found += [[kind, what, name, line] for (kind, what), line in lines.items()]
    json.dump(found, sys.stdout)
