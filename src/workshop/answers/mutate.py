"""Create mutants of an answer's code: the same code with one small change each.

mutmut and cosmic-ray mutate modules that a test runner imports; here, an answer is a cell, and the grader judges it.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SHOWN = 60  # characters of code in a mutant's name
Change = tuple[str, Callable[[ast.AST], ast.AST]]  # what changes, and the function that makes the new node
# Names that are easily confused; each pair is used in both directions.
TAKEN = (
    ("rank", "local_rank"),
    ("size", "local_size"),
    ("Sum", "Average"),
    ("get_rank", "get_world_size"),
    ("SUM", "AVG"),
    ("no_grad", "enable_grad"),
    ("train", "eval"),
    ("mean", "sum"),
    ("min", "max"),
)
NAMES = {**dict(TAKEN), **{other: one for one, other in TAKEN}}
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """A solution's cell with one change."""

    cell: str
    change: str  # such as "rank -> local_rank"; together with the cell, it names the mutant
    source: str
    diff: str

    @property
    def name(self) -> str:
        """Its name in `harmless.toml` and in reports."""
        return f"{self.cell}: {self.change}"


def mutate(cell: str, source: str) -> Iterator[Mutant]:
    """Yield the mutants of a cell; no two have the same name or source.

    Example: `mutate("shard", "x = x[hvd.rank():]")` yields mutants named "shard: rank -> local_rank",
    "shard: [hvd.rank():] without its start", "shard: x = x[hvd.rank():] dropped" and "shard: hvd.rank() dropped".
    """
    tree = ast.parse(source)
    before = ast.unparse(tree)
    seen = {before}
    times = Counter[str]()
    for i, node in enumerate(ast.walk(tree)):
        for change, new in _changes(node):
            after = ast.unparse(ast.fix_missing_locations(_replaced(copy.deepcopy(tree), i, new)))
            if after in seen:
                continue
            seen.add(after)
            times[change] += 1
            name = f"{change} ({times[change]})" if times[change] > 1 else change
            diff = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
            yield Mutant(cell, name, after, "\n".join([*diff][3:]))


def _replaced(tree: ast.AST, index: int, new: Callable[[ast.AST], ast.AST]) -> ast.AST:
    """Return the tree after `new` has replaced the node at this index, in the order of `ast.walk`."""
    old = next(node for i, node in enumerate(ast.walk(tree)) if i == index)
    put = new(old)
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, put)
            elif isinstance(value, list):
                setattr(parent, field, [put if item is old else item for item in value])
    return put if old is tree else tree


def _changes(node: ast.AST) -> Iterator[Change]:
    for kind, changes in CHANGES.items():
        if isinstance(node, kind):
            yield from changes(node)


def _name(node: ast.Attribute) -> Iterator[Change]:
    if other := NAMES.get(node.attr):
        yield f"{node.attr} -> {other}", _with(attr=other)


def _call(node: ast.Call) -> Iterator[Change]:
    """Yield calls without a keyword, reduced to their first argument, with swapped arguments, or in a changed chain."""
    for k, keyword in enumerate(node.keywords):
        rest = node.keywords[:k] + node.keywords[k + 1 :]
        yield f"{_shown(node.func)} without {_shown(keyword)}", _with(keywords=rest)
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield f"{_shown(node.func)}(…) replaced by its first argument", _taken(node.args[0])
    if len(node.args) > 1 and not any(isinstance(argument, ast.Starred) for argument in node.args[:2]):
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield f"{_shown(node.func)} with its first two arguments swapped", _with(args=swapped)
    if not isinstance(node.func, ast.Attribute):
        return
    inner = node.func.value
    if not (isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute)):
        return
    yield f".{node.func.attr}(…) left out of a chain", _taken(inner)
    first = ast.Call(ast.Attribute(inner.func.value, node.func.attr, ast.Load()), node.args, node.keywords)
    second = ast.Call(ast.Attribute(first, inner.func.attr, ast.Load()), inner.args, inner.keywords)
    yield f".{node.func.attr}(…) before .{inner.func.attr}(…)", _taken(second)


def _constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield f"{value} -> {not value}", _with(value=not value)
    elif isinstance(value, (int, float)):
        other = value + 1 if isinstance(value, int) else value * 2
        yield f"{value} -> {other}", _with(value=other)


def _operator(node: ast.BinOp | ast.BoolOp) -> Iterator[Change]:
    if other := OPERATORS.get(type(node.op)):
        new = _with(op=other())
        yield f"{_shown(node)} -> {_shown(new(node))}", new
    for side in ("left", "right"):
        if isinstance(node, ast.BinOp):
            yield f"{_shown(node)} -> {_shown(getattr(node, side))}", _taken(getattr(node, side))


def _comparison(node: ast.Compare) -> Iterator[Change]:
    if len(node.ops) == 1 and (other := OPERATORS.get(type(node.ops[0]))):
        new = _with(ops=[other()])
        yield f"{_shown(node)} -> {_shown(new(node))}", new


def _condition(node: ast.If | ast.IfExp) -> Iterator[Change]:
    for value in (True, False):
        yield f"if {_shown(node.test)} -> if {value}", _with(test=ast.Constant(value))


def _slice(node: ast.Slice) -> Iterator[Change]:
    for part, word in (("lower", "start"), ("upper", "end"), ("step", "step")):
        if getattr(node, part):
            yield f"[{_shown(node)}] without its {word}", _with(**{part: None})


def _comprehension(node: ast.comprehension) -> Iterator[Change]:
    for k, condition in enumerate(node.ifs):
        yield f"without if {_shown(condition)}", _with(ifs=node.ifs[:k] + node.ifs[k + 1 :])


def _block(node: ast.AST) -> Iterator[Change]:
    """Yield blocks without one statement, or with a return moved into the loop or the `with` above it."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if not isinstance(block, list):
            continue
        for k, statement in enumerate(block):
            if _is_text(statement) or isinstance(statement, (ast.Return, ast.Import, ast.ImportFrom, ast.Pass)):
                continue
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                yield f"{_shown(statement)} dropped", _with(**{field: [*block[:k], ast.Pass(), *block[k + 1 :]]})
            after = block[k + 1] if k + 1 < len(block) else None
            if isinstance(statement, (ast.For, ast.While, ast.With)) and isinstance(after, ast.Return):
                inside = _with(body=[*statement.body, after])(copy.deepcopy(statement))
                change = f"{_shown(after)} inside {_shown(statement)}"
                yield change, _with(**{field: [*block[:k], inside, *block[k + 2 :]]})


CHANGES: dict[type | tuple[type, ...], Callable[..., Iterator[Change]]] = {
    ast.Attribute: _name,
    ast.Call: _call,
    ast.Constant: _constant,
    (ast.BinOp, ast.BoolOp): _operator,
    ast.Compare: _comparison,
    (ast.If, ast.IfExp): _condition,
    ast.Slice: _slice,
    ast.comprehension: _comprehension,
    ast.AST: _block,
}


def _with(**fields: object) -> Callable[[ast.AST], ast.AST]:
    """Return a function that copies a node and changes fields of the copy."""

    def new(node: ast.AST) -> ast.AST:
        changed = copy.copy(node)
        for name, value in fields.items():
            setattr(changed, name, copy.deepcopy(value))
        return changed

    return new


def _taken(node: ast.AST) -> Callable[[ast.AST], ast.AST]:
    return lambda _: copy.deepcopy(node)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _shown(node: ast.AST) -> str:
    """Return the first line of a node's code, shortened."""
    line, *more = ast.unparse(node).splitlines()
    return line if len(line) <= SHOWN and not more else f"{line[:SHOWN]}…"
