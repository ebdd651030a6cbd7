"""What the source of a cell shows of an attempt, found in its syntax tree; a program of its own.

A hostile source can crash the parser, so this runs in a process that may die: it reads {name: source} as JSON from
standard input and writes [[kind, what, name, line], ...] to standard output.
It needs the standard library alone.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from typing import TYPE_CHECKING

from coursekit.grading.submission.source_words import (
    CALLS,
    HOOKS,
    INNER_ATTRIBUTES,
    KIT_NAMES,
    MODULES,
    ODD_BASES,
    ODD_METHODS,
    PATCHED,
    TEXTS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    Sign = tuple[str, str, int]  # kind, what, line


MAX_SOURCE_LENGTH = 200_000  # characters; longer ones are not parsed
MIN_CASES = 3  # of a table of results
COMMON_NAMES = {"signal", "site", "resource"}  # of parts of honest libraries, as tf.signal
MAGIC = re.compile(r"^(\s*)(?:[%!]|[\w., ]+=\s*[!%])(.*)$")
SHELL_MAGIC = re.compile(
    r"^\s*(?:[\w., ]+=\s*)?(?:!|%%?(?:sh|bash|sx|system|script|perl|ruby|run|load|cd|html|javascript)\b)"
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
    yield from _Finder(tree).signs()


def _signs_in_words(source: str) -> Iterator[Sign]:
    """Yield the suspicious words of a text that is no Python: it may be that for IPython."""
    known = {name: kind for table in (MODULES, CALLS) for kind, names in table.items() for name in names.split()}
    for number, line in enumerate(NEW_LINE.split(source), 1):
        for word in WORD.findall(line):
            if "." in word or "_" in word or word in {"subprocess", "socket", "ctypes", "sqlite3"}:
                kind = known.get(word)
                if kind:
                    yield kind, word, number


class _Finder:
    """One pass over a tree, with the names that imports gave to modules."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.called: dict[str, str] = {}  # a name of the cell's to what it was imported as
        self.modules = set(PATCHED)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                base = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                for alias in node.names:
                    name = alias.asname or alias.name.split(".")[0]
                    self.called[name] = base + alias.name if alias.asname or base else name
                    self.modules.add(name)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and self._dotted(node.value):
                # A module that gets another name: `fork = tempfile._os`.
                names = (target.id for target in node.targets if isinstance(target, ast.Name))
                self.called.update(dict.fromkeys(names, self._dotted(node.value)))
        bare = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
        self.remarks = {id(value) for value in bare if isinstance(value, ast.Constant)}

    def signs(self) -> Iterator[Sign]:
        for node in ast.walk(self.tree):
            for kind, what in self._of(node):
                yield kind, what, getattr(node, "lineno", 1)

    def _of(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            base = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                yield from _of_name(base + alias.name)
                yield from _of_tails(f"{base}{alias.name}.")
        elif isinstance(node, (ast.Name, ast.Attribute)):
            yield from self._of_reference(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)) and id(node) not in self.remarks:
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            yield from ((kind, repr(text[:40])) for kind, pattern in TEXTS if pattern.search(text))
        elif isinstance(node, ast.ClassDef):
            yield from self._of_class(node)
        elif isinstance(node, ast.Dict) and sum(_is_case(key) for key in node.keys) >= MIN_CASES:
            yield "overfitting", f"a table of {len(node.keys)} cases"
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        elif isinstance(node, ast.FunctionDef) and node.name in KIT_NAMES:
            yield "grader", f"def {node.name}"
        elif isinstance(node, ast.ExceptHandler) and self._dotted(node.type) in {"BaseException", "KeyboardInterrupt"}:
            yield "swallows", f"except {self._dotted(node.type)}"

    def _of_reference(self, node: ast.Name | ast.Attribute) -> Iterator[tuple[str, str]]:
        name = self._dotted(node)
        stored = not isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Attribute):
            if node.attr in INNER_ATTRIBUTES:
                yield "introspection", node.attr
            if node.attr == "__file__":
                yield "imports", node.attr
            if node.attr in HOOKS:
                yield "notebook", node.attr
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if stored and (isinstance(root, ast.Call) or (isinstance(root, ast.Name) and root.id in self.modules)):
                yield "patched", name or node.attr
        elif stored and node.id in KIT_NAMES:
            yield "grader", f"{node.id} = …"
        if name and not stored and (isinstance(node, ast.Attribute) or name in self.called.values() or "." not in name):
            yield from _of_name(name)
            yield from _of_tails(name)

    def _of_class(self, node: ast.ClassDef) -> Iterator[tuple[str, str]]:
        bases = {self._dotted(base) for base in node.bases} & ODD_BASES
        methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
        for target in (target for one in node.body if isinstance(one, ast.Assign) for target in one.targets):
            methods |= {self._dotted(target)}
        odd = sorted(bases | methods & ODD_METHODS | {node.name} & KIT_NAMES)
        if odd:
            yield "odd class", f"class {node.name}: {', '.join(odd)}"

    def _of_call(self, node: ast.Call) -> Iterator[tuple[str, str]]:
        name = self._dotted(node.func)
        if name in {"setattr", "delattr"} and node.args:
            root: ast.AST = node.args[0]
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name) or root.id in self.modules or root.id in {"__builtins__", "builtins"}:
                yield "patched", name
        if name == "getattr" and len(node.args) > 1:
            yield from self._of_getattr(*node.args[:2])
        if name == "__import__" and not self._dotted(node):
            yield "hidden code", "__import__(…)"
        elif name == "__import__":
            yield from _of_name(self._dotted(node))
        if name == "float" and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == "nan":
            yield "odd result", "float('nan')"
        if name == "type" and len(node.args) == 3:  # noqa: PLR2004  # the form that makes a class
            yield "odd class", "type(…, …, …)"

    def _of_getattr(self, owner: ast.expr, attribute: ast.expr) -> Iterator[tuple[str, str]]:
        if isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
            yield from self._of_reference(ast.copy_location(ast.Attribute(owner, attribute.value, ast.Load()), owner))
        else:
            yield "hidden code", "getattr(…, …)"

    def _dotted(self, node: ast.AST | None) -> str:
        """Return `a.b.c` with `a` as it was imported, or '' for anything else."""
        if isinstance(node, ast.Attribute):
            base = self._dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        if isinstance(node, ast.Name):
            return self.called.get(node.id, node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            first = node.args[0] if node.args else None
            return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        return ""


def _is_case(key: ast.expr | None) -> bool:
    """Whether a key is a tuple of numbers: arguments of a call."""
    return isinstance(key, ast.Tuple) and all(isinstance(one, ast.Constant) for one in key.elts)


def _of_name(name: str) -> Iterator[tuple[str, str]]:
    for kind, names in (*MODULES.items(), *CALLS.items()):
        if any(name == one or name.startswith(f"{one}.") for one in names.split()):
            yield kind, name


def _of_tails(name: str) -> Iterator[tuple[str, str]]:
    """Yield what a module's name shows that is reached through another: `tempfile._os.fork`."""
    parts = [part.lstrip("_") or part for part in name.split(".")]
    for start in range(1, len(parts) - 1):
        if parts[start] not in COMMON_NAMES:
            yield from ((kind, name) for kind, _ in _of_name(".".join(parts[start:])))


def main() -> None:
    """Be the program."""
    cells = json.load(sys.stdin)
    found = []
    for name, source in cells:
        seen = set()
        for kind, what, line in signs_in(source):
            if (kind, what) not in seen:
                seen.add((kind, what))
                found.append([kind, what, name, line])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
