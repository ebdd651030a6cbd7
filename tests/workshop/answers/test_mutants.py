"""Mutants of a lab's solution, and the command `workshop mutants`."""

import ast
import re
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from coursekit.errors import CourseKitError
from coursekit.grading.judge.pool import PoolSettings, default_num_slots
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from workshop.answers.mutants import judge_mutants, load_harmless, mutants_of, sample
from workshop.answers.mutate import mutate
from workshop.cli import cli
from workshop.cli.mutants import LIMITS

ROOT = Path(__file__).parents[3]
NUM_SAMPLED = 12  # of each lab: two minutes for all four


def sources(code):
    """Return what becomes of a statement, by the names of the changes."""
    return {mutant.change: mutant.source for mutant in mutate("cell", textwrap.dedent(code))}


@pytest.mark.parametrize(
    ("code", "change", "mutated"),
    [
        ("n = hvd.rank()", "rank -> local_rank", "n = hvd.local_rank()"),
        ("s = f(x, axis=0)", "f without axis=0", "s = f(x)"),
        ("g = hvd.allreduce(g)", "hvd.allreduce(…) replaced by its first argument", "g = g"),
        ("d = d.shard(2, 0).batch(8)", ".batch(…) left out of a chain", "d = d.shard(2, 0)"),
        ("d = d.shard(2, 0).batch(8)", ".batch(…) before .shard(…)", "d = d.batch(8).shard(2, 0)"),
        ("b = f(x, y)", "f with its first two arguments swapped", "b = f(y, x)"),
        ("n = 3", "3 -> 4", "n = 4"),
        ("r = 0.5", "0.5 -> 1.0", "r = 1.0"),
        ("b = True", "True -> False", "b = False"),
        ("r = a * b", "a * b -> a / b", "r = a / b"),
        ("r = a * b", "a * b -> a", "r = a"),
        ("b = i < n", "i < n -> i <= n", "b = i <= n"),
        ("b = x if c else y", "if c -> if False", "b = x if False else y"),
        ("y = x[1:n]", "[1:n] without its start", "y = x[:n]"),
        ("y = [i for i in x if i]", "without if i", "y = [i for i in x]"),
        ("f(x)\ng(x)", "f(x) dropped", "pass\ng(x)"),
    ],
)
def test_each_kind_of_change_is_made(code, change, mutated):
    """One change at a time, named by what it changes."""
    assert sources(code)[change] == mutated


def test_a_return_moves_into_the_loop_above_it():
    """The mistake that trains one epoch of five."""
    code = """
        def train(epochs):
            for epoch in epochs:
                step(epoch)
            return epochs
    """

    assert sources(code)["return epochs inside for epoch in epochs:…"] == ast.unparse(
        ast.parse("def train(epochs):\n  for epoch in epochs:\n    step(epoch)\n    return epochs")
    )


def test_no_mutant_is_the_solution_or_another_mutant():
    """Two changes that look alike have two names; docstrings and imports stay."""
    found = list(mutate("cell", 'import os\ndef f(a):\n    """Double."""\n    return (a + 1) * (a + 1)'))

    assert len({mutant.name for mutant in found}) == len({mutant.source for mutant in found}) == len(found)
    assert {"1 -> 2", "1 -> 2 (2)"} <= {mutant.change for mutant in found}
    assert all("import os" in mutant.source and "Double" in mutant.source for mutant in found)


def test_a_sample_is_the_same_each_time_and_in_order():
    """Three of all, without one of them another one at most; and all where there are no more."""
    found = [*mutate("cell", "a = 1\nb = 2\nc = 3\nd = 4\ne = f(a, b)")]

    chosen = sample(found, 3)

    assert len(found) > len(chosen) == 3
    assert [found.index(one) for one in chosen] == sorted(found.index(one) for one in chosen)
    assert len({*sample([one for one in found if one != chosen[0]], 3)} - {*chosen}) == 1
    assert sample(found, 100) == found


@pytest.mark.parametrize(("rows", "code"), [(["gone"], "mutants.stale"), (["cell: 3 -> 4"] * 2, "mutants.twice")])
def test_a_record_that_fits_no_mutant_is_refused(tmp_path, rows, code):
    """A solution changes, and with it its mutants: a reason for one that is gone helps nobody."""
    path = tmp_path / "01.toml"
    path.write_text("".join(f'[[harmless]]\nmutant = "{row}"\nreason = "why"\n' for row in rows))

    with pytest.raises(CourseKitError) as caught:
        load_harmless(path, list(mutate("cell", "n = 3")))

    assert caught.value.code == code


@pytest.mark.needs("bwrap")
def test_survivors_are_shown_as_changes(course):
    """The mean of 1, 2 and 6 is their number, too: a hole. That a sum starts at 0 is recorded as harmless."""
    source = course / "solutions" / "01-small" / "01-small.py"
    source.write_text(source.read_text().replace("return sum(x) / len(x)", "return sum(x, start=0) / len(x)"))
    record = course / "tests" / "mutants" / "01-small.toml"
    record.parent.mkdir(parents=True)
    record.write_text('[[harmless]]\nmutant = "mean: sum without start=0"\nreason = "It starts at 0 in any case."\n')

    result = CliRunner(env={"COLUMNS": "100"}).invoke(cli, ["mutants", "01", "-k", "mean"], catch_exceptions=False)

    assert result.exit_code == 1
    assert re.findall("(.*): SURVIVED", result.output) == ["mean: sum(x, start=0) / len(x) -> len(x)"]
    assert "-    return sum(x, start=0) / len(x)\n+    return len(x)\n" in result.output
    assert "without start=0" not in result.output


@pytest.mark.needs("bwrap")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("lab", ["02", "03", "04", pytest.param("08", marks=pytest.mark.needs("torch"))])
def test_mutants_of_a_fixed_sample_lose_points(lab):
    """A change to a check that opens a hole is seen, in part; docs/benchmarks.md has what all mutants of a lab do."""
    (chosen,) = select_labs(ROOT, [lab])
    source = build_sources(ROOT, [chosen])[chosen.name]
    found = mutants_of(source)
    harmless = load_harmless(ROOT / "tests" / "mutants" / f"{chosen.name}.toml", found)
    wanted = sample([one for one in found if one.name not in harmless], NUM_SAMPLED)

    judged = [*judge_mutants(wanted, source, PoolSettings(default_num_slots(), LIMITS))]

    assert [one.fault for one in judged if one.fault] == []
    assert [one.mutant.name for one in judged if one.survived] == []
    assert len(judged) == NUM_SAMPLED
