"""What of the kit a sandbox shows."""

import ast
import sys
from pathlib import Path

from coursekit.grading.judge.slot import MODULES, shown_files
from coursekit.paths import PACKAGE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
CONTRACT = "What a sandbox shows does not know what is right"


def imported(path):
    """Return the parts of the kit that a module imports when it is imported itself."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module == "coursekit":
            names |= {f"coursekit.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name for name in names if name.startswith("coursekit.")}


def test_what_is_shown_is_what_the_contract_on_imports_watches():
    """The list of the sandbox and that of import-linter are one; beside it there are only `__init__.py` of packages."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (watched,) = [one["source_modules"] for one in contracts if one["name"] == CONTRACT]
    files = {path.relative_to(PACKAGE).as_posix() for path in shown_files()}

    assert [f"coursekit.{name}" for name in MODULES] == watched
    assert {name.removesuffix(".py").replace("/", ".") for name in files - {"__init__.py", "grading/__init__.py"}} == {
        *MODULES
    }
    assert {"__init__.py", "grading/__init__.py"} <= files
    assert all(path.exists() for path in shown_files())


def test_what_is_shown_needs_nothing_that_is_not():
    """Every module that is seen inside finds there what it imports."""
    of_package = ("__version__", "STAMP", "hiding")
    shown = [f"coursekit.{name}" for name in (*MODULES, *of_package)]
    modules = [path for one in shown_files() for path in ([one] if one.is_file() else one.rglob("*.py"))]

    missing = {
        path.relative_to(PACKAGE).as_posix(): {
            name for name in imported(path) if not any(f"{name}.".startswith(f"{one}.") for one in shown)
        }
        for path in modules
    }

    assert len(modules) > len(MODULES)
    assert {module: names for module, names in missing.items() if names} == {}
