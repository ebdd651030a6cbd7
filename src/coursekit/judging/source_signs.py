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

if TYPE_CHECKING:
    from collections.abc import Iterator

    Sign = tuple[str, str, int]  # kind, what, line


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAX_SOURCE_LENGTH = 200_000  # characters; longer ones are not parsed
MIN_CASES = 3  # of a table of results

MODULES = {
    "process": "subprocess multiprocessing signal pty psutil resource concurrent",
    "outlives": "threading _thread atexit sched",
    "network": "socket ssl urllib http requests ftplib smtplib xmlrpc telnetlib paramiko webbrowser",
    "introspection": "gc inspect ctypes cffi mmap dis faulthandler tracemalloc pdb bdb",
    "grader": "nbgrader nbconvert nbformat sqlite3 sqlalchemy coursekit.checks coursekit.judging coursekit.inside "
    "coursekit.drivers coursekit.course coursekit.grading coursekit.sandbox coursekit.attacks",
    "notebook": "IPython ipykernel jupyter_client traitlets",
    "imports": "importlib imp pkgutil runpy zipimport site builtins sitecustomize usercustomize",
    "pickle": "pickle cloudpickle dill shelve marshal copyreg",
    "patched": "unittest mock",
}
CALLS = {
    "process": "os.fork os.forkpty os._exit os.abort os.kill os.killpg os.system os.popen os.posix_spawn os.setsid "
    "os.dup os.dup2 os.execv os.execve os.execvp os.execl os.spawnv os.spawnl os.setns os.unshare os.closerange "
    "sys.exit exit quit",
    "paths": "os.symlink os.link os.mkfifo os.chmod os.chroot os.listdir os.walk os.scandir shutil.rmtree",
    "introspection": "sys._getframe sys._current_frames sys.settrace sys.setprofile sys.setrecursionlimit "
    "threading.settrace globals locals vars",
    "imports": "sys.modules sys.meta_path sys.path sys.path_hooks __builtins__",
    "hidden code": "exec eval compile",
    "notebook": "get_ipython In _ih _oh sys.displayhook sys.excepthook",
    "waiting": "time.sleep",
}
INNER_ATTRIBUTES = _words(
    "__globals__ __closure__ __code__ __subclasses__ __mro__ __bases__ __builtins__ __traceback__ f_back "
    "f_locals f_globals f_code gi_frame cr_frame tb_frame tb_next cell_contents"
)
HOOKS = _words(
    "ast_transformers input_transformers input_transformers_post input_transformers_cleanup showtraceback "
    "_showtraceback set_custom_exc history_manager run_cell user_ns display_pub register_post_execute"
)
ODD_METHODS = _words(
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __array__ __array_interface__ __array_struct__ "
    "__array_function__ __array_ufunc__ __array_finalize__ __float__ __int__ __index__ __bool__ __complex__ "
    "__reduce__ __reduce_ex__ __getstate__ __setstate__ __str__ __repr__ __format__ __hash__ __del__ "
    "__instancecheck__ __class__"
)
ODD_BASES = _words("float int complex bool str bytes np.ndarray numpy.ndarray np.float64 numpy.float64")
KIT_NAMES = _words("check require hand_in_report CheckError Fault AnswerError RankError")
PATCHED = _words("numpy np tensorflow tf horovod hvd hvd_keras keras os sys time math json")
ROOTS = "tmp|dev|etc|home|root|var|usr|opt|srv|mnt|sys|run|shared|data|boot|lib|bin|proc"
TEXTS = (
    ("introspection", re.compile(r"/proc\b|ptrace|/dev/mem")),
    ("grader", re.compile(r"NBGRADER|nbgrader|gradebook|autograded|HIDDEN TESTS|coursekit[./](checks|judging)")),
    ("scheduler", re.compile(r"\b(sbatch|srun|scancel|squeue|salloc|crontab|munge)\b")),
    (
        "imports",
        re.compile(r"sitecustomize|usercustomize|\.pth$|ipykernel_launcher|PYTHONPATH|PYTHONSTARTUP|LD_PRELOAD"),
    ),
    ("network", re.compile(r"^(https?|ftp)://|^\d+\.\d+\.\d+\.\d+$")),
    ("text", re.compile(r"\x1b|<script|javascript:|onerror\s*=|<iframe", re.IGNORECASE)),
    ("paths", re.compile(rf"^(/({ROOTS})\b|~/|\.\./)[^:]*$")),
)
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
        if name == "__import__" and not self._dotted(node):
            yield "hidden code", "__import__(…)"
        elif name == "__import__":
            yield from _of_name(self._dotted(node))
        if name == "float" and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == "nan":
            yield "odd result", "float('nan')"
        if name == "type" and len(node.args) == 3:  # noqa: PLR2004  # the form that makes a class
            yield "odd class", "type(…, …, …)"

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
    for kind, names in MODULES.items():
        if any(name == one or name.startswith(f"{one}.") for one in names.split()):
            yield kind, name
    for kind, names in CALLS.items():
        if any(name == one or name.startswith(f"{one}.") for one in names.split()):
            yield kind, name


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
