"""The Python of the decks: its names exist, and what people type or a lecturer shows runs as it stands."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import pytest

import coursekit.estimator  # noqa: F401  # as in lab 04: before Horovod looks for hooks of an Estimator
from workshop.slides.deck import find_decks, slides_of

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NOTE = re.compile(r"<!--(.*?)-->", re.DOTALL)
SLIDES = [(f"{deck.name}-{slide.number}", slide) for deck in find_decks(ROOT) for slide in slides_of(deck.body)]
BLOCKS = [
    (where, language, textwrap.dedent(code)) for where, one in SLIDES for language, code in BLOCK.findall(one.text)
]
HANDS_ON = [(where, slide) for where, slide in SLIDES if "<!-- _class: hands -->" in slide.text]
DEMOS = [
    (where, code)
    for where, slide in SLIDES
    for note in NOTE.findall(slide.text)
    for language, code in BLOCK.findall(note)
    if language == "python"
]
UNRESOLVED = ("# Not run here:", "# Historical:")
ON_PURPOSE = "# Fails on purpose."
# What blocks use without importing it: short slides leave out what stood on an earlier one.
USUAL = {
    "np": ["numpy"],
    "tf": ["tensorflow"],
    "keras": ["tensorflow.keras"],
    "layers": ["tensorflow.keras.layers"],
    "hvd": ["horovod.tensorflow", "horovod.tensorflow.keras"],
    "hvd_keras": ["horovod.tensorflow.keras"],
}


if find_spec("torch"):
    USUAL |= {"torch": ["torch"], "dist": ["torch.distributed"]}


def faults(code):
    """Return what is wrong with a block: it does not parse, or names something that is not there."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        return [f"line {error.lineno}: {error.msg}"]
    return [] if code.lstrip().startswith(UNRESOLVED) else [*_missing(tree)]


def _missing(tree):
    known = {name: [importlib.import_module(module) for module in modules] for name, modules in USUAL.items()}
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            scope = {}
            one = type(node)(**{**vars(node), "names": [alias]})
            try:
                exec(compile(ast.Module([one], []), "slide", "exec"), scope)  # noqa: S102  # one import of a deck
            except ImportError as error:
                yield f"line {node.lineno}: {error.msg.partition(' (')[0]}"
            known.update({name: [module] for name, module in scope.items() if name != "__builtins__"})
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _find(node.value, known) and not _find(node, known):
            yield f"line {node.lineno}: {ast.unparse(node)} does not exist"
        elif isinstance(node, ast.Call):
            given = {keyword.arg for keyword in node.keywords if keyword.arg}
            refused = [_refused(one, given) for one in _find(node.func, known)]
            if refused and all(refused):
                yield f"line {node.lineno}: {ast.unparse(node.func)} takes no {', '.join(sorted(refused[0]))}"


def _find(node, known):
    """Return what a chain such as `tf.data.Dataset` may be; nothing if it does not begin with a module."""
    if isinstance(node, ast.Attribute):
        return [getattr(owner, node.attr) for owner in _find(node.value, known) if hasattr(owner, node.attr)]
    return known.get(node.id, []) if isinstance(node, ast.Name) else []


def _refused(function, given):
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return set()
    return set() if any(one.kind is one.VAR_KEYWORD for one in parameters.values()) else given - set(parameters)


def test_every_block_of_every_deck_parses_and_names_what_exists():
    """All faults of all decks are told at once, with slide, line and name."""
    blocks = [(where, code) for where, language, code in BLOCKS if language == "python"]
    found = [f"{where}: {fault}" for where, code in blocks for fault in faults(code)]
    assert blocks
    assert not found, "\n".join(found)


@pytest.mark.parametrize("slide", [slide for _, slide in HANDS_ON], ids=[where for where, _ in HANDS_ON])
def test_what_people_do_themselves_runs_as_it_stands(slide, tmp_path):
    """Python and commands end well and say something; what fails on purpose names a rank."""
    assert BLOCK.search(slide.text)
    for language, code in BLOCK.findall(slide.text):
        command = [sys.executable, "-c", code] if language == "python" else ["bash", "-euc", code]
        cwd = tmp_path if language == "python" else ROOT
        ended = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, cwd=cwd)
        assert bool(ended.returncode) == (ON_PURPOSE in code), ended.stderr
        assert "rank" in ended.stderr if ON_PURPOSE in code else ended.stdout.strip()


@pytest.mark.parametrize("code", [code for _, code in DEMOS], ids=[where for where, _ in DEMOS])
def test_a_live_demo_prints_what_the_note_says(code, tmp_path):
    """The comments at a demo's end are its output, line by line."""
    from_the_end = takewhile(lambda line: line.startswith("# "), reversed(code.splitlines()))
    expected = [line[2:] for line in from_the_end][::-1]
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == expected != []
