"""tests/messages.md is fresh, each refusal has a code, and no test holds what a message says."""

import ast
import re
from pathlib import Path

from workshop.pages.messages import CODE, PAGE, SOURCES, messages, page

ROOT = Path(__file__).parents[3]
BETWEEN = re.compile(r"\{[^}]*\}|`[^`]*`|\"[^\"]*\"")  # what is filled in, code and quotations
NUM_WORDS = 4  # of a text that is a sentence, and no command, name or fact
HAS_CODE = re.compile(r"\b(code|unit|cause\.code)\b|\[[a-z0-9-]+\.[a-z0-9-]+\]")
QUOTES = re.compile(
    r"\{[\w.]*(error|failure|NO_RANKS|killed|message)\}"
)  # a message that quotes another one has its code


def kinds(trees):
    """Return the names of the exceptions that users see as a message: `ShownAsMessage` and what is derived from it."""
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {"ShownAsMessage"}
    while more := {one.name for one in classes if {ast.unparse(base) for base in one.bases} & found} - found:
        found |= more
    return found


def trees_of(folder):
    """Return the syntax trees of a folder's files, by their paths."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((ROOT / folder).rglob("*.py"))}


def test_the_committed_page_is_fresh():
    """`workshop pages` would not change a byte of it."""
    assert page(ROOT) == (ROOT / PAGE).read_text(encoding="utf-8")


def test_each_refusal_has_a_code():
    """What raises a sentence of its own names the cause beside it."""
    trees, without = trees_of(SOURCES), []
    names = {*kinds(trees), "require"}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names:
                written = [ast.unparse(part) for part in (*node.args, *(word.value for word in node.keywords))]
                is_sentence = any(isinstance(part, (ast.Constant, ast.JoinedStr)) for part in node.args[:2])
                has_code = any(CODE.fullmatch(part.strip("'")) or HAS_CODE.search(part) for part in written)
                if is_sentence and not has_code and not any(map(QUOTES.search, written)):
                    without.append(f"{path.name}:{node.lineno}: {written[0]}")
    assert without == []


def test_no_test_holds_a_sentence():
    """Whoever rewords a message changes no test: none has four words of it that follow each other."""
    parts = {part.strip() for one in messages(ROOT) for part in BETWEEN.split(one.words)}
    sentences = {part for part in parts if len(part.split()) >= NUM_WORDS}
    held = []
    for path, tree in trees_of("tests").items():
        if path.relative_to(ROOT / "tests").parts[0] in {"answers", "attacks"}:
            continue
        bodies = [
            node.body[0] for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Module)) and node.body
        ]
        documented = {id(first.value) for first in bodies if isinstance(first, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                text = node.value.replace("\\", "").strip()
                is_long = len(text.split()) >= NUM_WORDS
                held += [f"{path.name}:{node.lineno}: {text}"] * any(
                    part in text or (is_long and text in part) for part in sentences
                )
    assert held == []
