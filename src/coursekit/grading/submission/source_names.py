"""What the names in a cell stand for, as far as its imports and assignments say: for `source_signs`."""

from __future__ import annotations

import ast

from coursekit.grading.submission import source_words as words


class Names:
    """What the names of a cell stand for, as its imports say."""

    def __init__(self, tree: ast.Module) -> None:
        self.called: dict[str, str] = {}  # a name of the cell's to what it was imported as
        self.modules = set(words.PATCHED)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias, full_name in imported(node):
                    if alias.name == "*":
                        self.called.update(_words_of(full_name[:-1]))
                    name = alias.asname or alias.name.split(".")[0]
                    self.called[name] = name if full_name == alias.name and not alias.asname else full_name
                    self.modules.add(name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and self._is_imported(node.value):
                # A module that gets another name: `fork = tempfile._os`.
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = (target.id for target in targets if isinstance(target, ast.Name))
                self.called.update(dict.fromkeys(names, self.dotted(node.value)))
        bare = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
        self.remarks = {id(value) for value in bare if isinstance(value, ast.Constant)}

    def _is_imported(self, node: ast.AST | None) -> bool:
        known = isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id in self.called)
        return known and bool(self.dotted(node))

    def dotted(self, node: ast.AST | None) -> str:
        """Return `a.b.c` with `a` as it was imported, or '' for anything else."""
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        if isinstance(node, ast.Name):
            return self.called.get(node.id, node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            if node.func.id == "__import__":
                return literal(node.args[0])
            if node.func.id == "getattr" and (base := self.dotted(node.args[0])):
                return ".".join([base, *filter(None, map(literal, node.args[1:2]))])
        return ""


def imported(node: ast.Import | ast.ImportFrom) -> list[tuple[ast.alias, str]]:
    """Return what an import names, each with its full name."""
    base = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return [(alias, base + alias.name) for alias in node.names]


def root_of(node: ast.expr) -> ast.expr:
    """Return `a` of `a.b.c`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def literal(node: ast.expr) -> str:
    """Return a text that is written out, or '' for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _words_of(module: str) -> dict[str, str]:
    """Return by their last name the words that the tables know of a module, named with a dot at its end."""
    known = (name for names in words.CALLS.values() for name in names.split())
    return {name[len(module) :]: name for name in known if name.startswith(module)}
