"""The Python on the slides: every block parses, and its names of modules exist, with the keywords they are given."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from coursekit.lecture.slides.deck import find_decks, slides_of

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
UNRESOLVED = ("# Not run here:", "# Historical:")
# What blocks use without importing it: short slides leave out what stood on an earlier one.
USUAL = {
    "np": ["numpy"],
    "tf": ["tensorflow"],
    "keras": ["tensorflow.keras"],
    "layers": ["tensorflow.keras.layers"],
    "hvd": ["horovod.tensorflow", "horovod.tensorflow.keras"],
    "hvd_keras": ["horovod.tensorflow.keras"],
}


def blocks():
    """Return for each Python block of the decks where it stands, and the code."""
    return [
        (f"slides/{deck.path.name}, slide {slide.title!r}", textwrap.dedent(code))
        for deck in find_decks(ROOT)
        for slide in slides_of(deck.body)
        for code in BLOCK.findall(slide.text)
    ]


def faults(code):
    """Return what is wrong with a block: it does not parse, or names something that is not there."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        return [f"line {error.lineno}: {error.msg}"]
    return [] if code.lstrip().startswith(UNRESOLVED) else [*_Names(tree).check()]


class _Names:
    """The names that stand for modules in a block, and what is asked of them."""

    def __init__(self, tree):
        self.tree = tree
        self.candidates = {}  # by name: the objects that it may stand for
        self.missing = []

    def check(self):
        """Yield what cannot be found."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node)
        imported = set(self.candidates)
        for name in {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)} & set(USUAL) - imported:
            self.candidates[name] = [importlib.import_module(module) for module in USUAL[name]]
        self._follow_bindings(imported)
        yield from self.missing
        inner = {id(node.value) for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and id(node) not in inner:
                found = self._find(node)
                if found == []:
                    yield f"line {node.lineno}: {ast.unparse(node)} does not exist"
            if isinstance(node, ast.Call):
                yield from self._keywords(node)

    def _import(self, node):
        for alias in node.names:
            try:
                module = importlib.import_module(alias.name)
            except ImportError:
                self.missing.append(f"line {node.lineno}: there is no module {alias.name}")
                continue
            name = alias.asname or alias.name.partition(".")[0]
            self.candidates[name] = [module if alias.asname else importlib.import_module(name)]

    def _import_from(self, node):
        for alias in node.names:
            try:
                module = importlib.import_module(node.module)
            except ImportError:
                self.missing.append(f"line {node.lineno}: there is no module {node.module}")
                return
            try:
                found = getattr(module, alias.name, None) or importlib.import_module(f"{node.module}.{alias.name}")
            except ImportError:
                self.missing.append(f"line {node.lineno}: {node.module} has no {alias.name}")
                continue
            self.candidates[alias.asname or alias.name] = [found]

    def _follow_bindings(self, imported):
        """Follow `layers = tf.keras.layers`; a name that is bound to something else stands for no module."""
        bound = {
            node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        bound |= {node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)}
        for name in bound - imported:
            self.candidates.pop(name, None)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                modules = [one for one in self._find(node.value) or [] if inspect.ismodule(one) or inspect.isclass(one)]
                for target in node.targets:
                    if modules and isinstance(target, ast.Name):
                        self.candidates[target.id] = modules

    def _find(self, node):
        """Return what a chain such as `tf.data.Dataset` may be; [] if nothing, None if it is not a module's."""
        if isinstance(node, ast.Name):
            return self.candidates.get(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        owners = self._find(node.value)
        if owners is None:
            return None
        found = []
        for owner in owners:
            if hasattr(owner, node.attr):
                found.append(getattr(owner, node.attr))
            elif isinstance(owner, ModuleType):
                try:
                    found.append(importlib.import_module(f"{owner.__name__}.{node.attr}"))
                except ImportError:
                    continue
        return found

    def _keywords(self, node):
        """Yield keywords that nothing of this name takes."""
        found = self._find(node.func)
        given = {keyword.arg for keyword in node.keywords if keyword.arg}
        if not found or not given:
            return
        refused = [_refused(one, given) for one in found]
        if all(refused):
            yield f"line {node.lineno}: {ast.unparse(node.func)} takes no {', '.join(sorted(refused[0]))}"


def _refused(function, given):
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return set()
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return set()
    return given - set(parameters)


def test_every_block_of_every_deck_parses_and_names_what_exists():
    """All faults of all decks are told at once, with file, slide, line and name."""
    found = [f"{where}: {fault}" for where, code in blocks() for fault in faults(code)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import tensorflow as tf\ntf.data.Datasets.range(3)", "line 2: tf.data.Datasets.range does not exist"),
        ("hvd.callbacks.BroadcastCallback(0)", "line 1: hvd.callbacks.BroadcastCallback does not exist"),
        ("layers = tf.keras.layers\nx = layers.Conv4D(3)(x)", "line 2: layers.Conv4D does not exist"),
        ("hvd.allreduce(x, opp=hvd.Sum)", "line 1: hvd.allreduce takes no opp"),
        ("import torch", "line 1: there is no module torch"),
        ("from tensorflow import sesion", "line 1: tensorflow has no sesion"),
        ("if True\n    pass", "line 1: expected ':'"),
    ],
)
def test_what_is_not_there_is_told(code, told):
    """The checker refuses wrong names, keywords, modules and syntax, and says which and where."""
    assert faults(code) == [told]


@pytest.mark.parametrize(
    "code",
    [
        "import horovod.tensorflow.keras as hvd\nhvd.callbacks.MetricAverageCallback()",
        "tape = hvd.DistributedGradientTape(tape)",  # of horovod.tensorflow
        "optimizer = hvd.DistributedOptimizer(optimizer, groups=1)",  # of both
        "# Not run here: PyTorch\nimport torch\ntorch.distributed.init()",
        "# Historical: TensorFlow 1.12\ntf.Session().run(x)",
        "def step(tf):\n    return tf.anything",
    ],
)
def test_what_is_right_or_of_elsewhere_passes(code):
    """Names of either Horovod module pass, and blocks that say they are not for here are only parsed."""
    assert faults(code) == []


def test_code_of_elsewhere_is_still_parsed():
    """A block for other software must be Python, too."""
    assert faults("# Not run here: PyTorch\nimport torch as") != []


def test_the_decks_have_blocks():
    """The search finds the blocks: an empty check would pass for nothing."""
    num_fences = sum(
        path.read_text(encoding="utf-8").count("```python") for path in (ROOT / "slides").glob("[0-9]*.md")
    )
    assert len(blocks()) == num_fences > 0
