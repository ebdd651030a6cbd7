"""The script twin of a lab: what goes into it, what it does on real ranks, and whose file it is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import cloudpickle
import pytest

from coursekit import ranks
from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_release, build_sources, source_notebook
from coursekit.labs.lab import find_labs

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

BIN = Path(sysconfig.get_path("scripts"))

RELEASE = '''\
"""Lab 05: Sums "on" ranks: the notebook's training as a script.

Made by `coursekit build` from solutions/05-sums/05-sums.py: change that, not this file.
`coursekit script 05` makes the one with the answers of your notebook.

Start it on as many ranks as you like, here on two:

    horovodrun -np 2 python train.py
    mpirun -np 2 python train.py
    srun --ntasks=2 python train.py

Parameters of the notebook are options: python train.py --help.
"""

import argparse
import json

num_steps = 3  # of each rank, 100 %
rate = 0.5
# What to call it.
title = "sums"  # or 'a "better" name'
fast = False  # skip the first step

if __name__ == "__main__":  # the command line may replace what stands above
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    _parser.add_argument("--num-steps", type=int, default=num_steps, help="of each rank, 100 %% (default: %(default)r)")
    _parser.add_argument("--rate", type=float, default=rate, help="(default: %(default)r)")
    _parser.add_argument("--title", type=str, default=title, help="or 'a \\"better\\" name' (default: %(default)r)")
    _parser.add_argument("--fast", action=argparse.BooleanOptionalAction, default=fast, help="skip the first step")
    globals().update(vars(_parser.parse_args()))

import horovod.tensorflow as hvd
import numpy as np


def own_sum(rank):
    """Return the sum over this rank's steps."""
    # about 2 lines
    raise NotImplementedError("your answer goes here")


def all_sums(numbers):
    # about 1 line
    raise NotImplementedError("your answer goes here")


def main():
    hvd.init()
    numbers = np.array([own_sum(hvd.rank()), 1.0])
    return {"title": title, "numbers": all_sums(numbers), "size": hvd.size(), "first": np.float32(numbers[0])}


def _plain(value):
    """Return as numbers or text what JSON cannot hold."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


if __name__ == "__main__":
    _result = main()
    if hvd.rank() == 0:
        print("result:", json.dumps(_result, default=_plain), flush=True)
    hvd.shutdown()
'''


@pytest.fixture
def lab(course, script_example):
    """Return a lab with a twin."""
    return course.add_lab("05-sums", script_example)


@pytest.fixture
def built(course, lab) -> Path:
    """Build everything, and return the students' twin."""
    build_release(course.root, [lab])
    return course.root / "labs" / "05-sums" / "train.py"


def test_students_get_the_script_cells_with_stubs(built):
    """In their order, without markers, magics, tests and what only the notebook needs; formatted, with a mark."""
    text, mark = built.read_text(encoding="utf-8").split("\n\n\n# Made, not edited: ")

    assert text + "\n" == RELEASE
    assert re.fullmatch("release [0-9a-f]{64}\n", mark)


def test_the_source_twin_holds_the_answers(course, built):
    """It differs from the released one in the answers, and in the lines about itself."""
    source = (course.root / "build" / "source" / "05-sums" / "train.py").read_text(encoding="utf-8").splitlines()
    release = built.read_text(encoding="utf-8").splitlines()

    assert [line for line in source if line not in release][:-1] == [
        "    steps = range(1 if fast else 0, num_steps)",
        "    return sum(rate * (rank + step) for step in steps)",
        "    return hvd.allreduce(numbers, op=hvd.Sum).numpy()",
    ]
    assert [line for line in release if line not in source][:-1] == [
        "`coursekit script 05` makes the one with the answers of your notebook.",
        '    raise NotImplementedError("your answer goes here")',
        '    raise NotImplementedError("your answer goes here")',
    ]


def test_ruff_would_not_format_it_otherwise(course, built, tmp_path):
    """Nothing external formats it while it is built, so the builder has to get it right."""
    parameters = f'# %% tags=["parameters"]\na_b = "text"  # {"very " * 30}long\n'
    text = '# %% tags=["script"]\nimport horovod.tensorflow as hvd\n\n\ndef main():\n    return a_b\n\n\n'
    course.add_lab("06-long", text + parameters)
    build_release(course.root, find_labs(course.root))
    for number, path in enumerate(sorted(course.root.rglob("train.py"))):
        (tmp_path / f"{number}.py").write_bytes(path.read_bytes())
    done = subprocess.run(
        [BIN / "ruff", "format", "--isolated", "--no-cache", "--line-length=120", "--diff", *tmp_path.glob("*.py")],
        check=False,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stdout, built.exists()) == (0, "", True), done.stderr
    assert "4 files already formatted" in done.stderr


def test_builds_are_byte_equal_and_a_second_one_writes_nothing(new_course, script_example):
    """Nothing of the place or the time is in a twin."""
    trees = []
    for name in ("one", "another/deeper"):
        course = new_course(name)
        lab = course.add_lab("05-sums", script_example)
        build_release(course.root, [lab])
        trees.append((course.files("build/source"), course.files("labs")))
    verdicts = []
    build_release(course.root, [lab], lambda verdict, path: verdicts.append((verdict, path.name)))

    assert trees[0] == trees[1]
    assert [sorted(files) for files in trees[0]] == [["05-sums/05-sums.ipynb", "05-sums/train.py"]] * 2
    assert verdicts == [("unchanged", "train.py"), ("unchanged", "05-sums.ipynb")] * 2


def call_main(text, parameters):
    """Do what the notebook does on a rank: define everything, with these parameters, and call `main`."""
    names = {"__name__": "notebook"}
    exec(text, names)  # noqa: S102  # that is what it is for
    names.update(parameters)
    return names["main"]()


def test_the_launched_script_does_what_the_notebook_does(course, lab):
    """`horovodrun -np 2` with some parameters changed prints, once, what `ranks.run(main)` returns on rank 0."""
    build_sources(course.root, [lab])
    twin = course.root / "build" / "source" / "05-sums" / "train.py"
    expected, _ = ranks.run(call_main, twin.read_text(encoding="utf-8"), {"num_steps": 4, "rate": 0.25, "fast": True})
    done = subprocess.run(
        [
            *(BIN / "horovodrun", "-np", "2", "--gloo", "--network-interfaces", "lo", sys.executable, twin),
            *("--num-steps", "4", "--rate", "0.25", "--fast"),
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
    )
    results = re.findall(r"^\[(\d+)\]<stdout>: *result: (.*)$", done.stdout, flags=re.MULTILINE)

    assert (done.returncode, [rank for rank, _ in results]) == (0, ["0"]), done.stderr
    assert json.loads(results[0][1]) == {**expected, "numbers": expected["numbers"].tolist()}
    # 0.25 (1 + 2 + 3) on rank 0 and 0.25 (2 + 3 + 4) on rank 1
    assert json.loads(results[0][1]) == {"title": "sums", "numbers": [3.75, 2.0], "size": 2, "first": 1.5}


def test_help_lists_the_parameters_and_wrong_values_are_refused(built):
    """Before TensorFlow is imported; the number of ranks is the launcher's and no option."""
    helped = subprocess.run([sys.executable, built, "--help"], check=True, capture_output=True, text=True)
    words = " ".join(helped.stdout.split())

    assert "horovodrun -np 2 python train.py" in words
    assert "--num-steps NUM_STEPS of each rank, 100 % (default: 3)" in words
    assert "--title TITLE or 'a \"better\" name' (default: 'sums')" in words
    assert "--fast, --no-fast skip the first step" in words
    assert "--num-ranks" not in words
    wrong = subprocess.run([sys.executable, built, "--rate", "high"], check=False, capture_output=True, text=True)
    assert wrong.returncode == 2
    assert "argument --rate: invalid float value: 'high'" in wrong.stderr


HOROVOD = '# %% tags=["script"]\nimport horovod.tensorflow as hvd\n'
MAIN = '# %% tags=["script"]\ndef main():\n    return 1\n'


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (f'# %% [markdown] tags=["script"]\n# Hello\n\n{HOROVOD}{MAIN}', 1, "the tag script is for code cells"),
        (HOROVOD, 1, "no script cell defines `main`, which the script calls on every rank: write it"),
        (MAIN, 1, "no script cell has `import horovod.tensorflow as hvd`, which the script needs"),
        (
            f'{HOROVOD}{MAIN}# %%\nhelper = 1\n\n# %% tags=["script"]\nprint([helper for _ in range(2)])\n',
            9,
            "the script would not know `helper`: define it in a cell with the tag `script`",
        ),
        (f'{HOROVOD}{MAIN}# %% tags=["script"]\nx = (1,\n', 6, "this script cell is not Python: '(' was never closed"),
        (
            f'{HOROVOD}{MAIN}# %% tags=["script"]\nfrom __future__ import annotations\n',
            1,
            "the script cells together are not a program: from __future__ imports must occur at the beginning",
        ),
    ],
)
def test_cells_that_make_no_program_are_refused(course, text, line, sentence):
    """With the file and the line of the cell to blame."""
    with pytest.raises(CourseKitError, match=re.escape(f"solutions/05-a/05-a.py:{line}: {sentence}")):
        source_notebook(course.add_lab("05-a", text))


def test_what_may_come_from_anywhere_is_not_refused(course):
    """After `from … import *` any name may be known; names of Python itself always are."""
    star = f'{HOROVOD}{MAIN}# %% tags=["script"]\nfrom numpy import *\nprint(zeros(2), __file__, len([]))\n'
    assert source_notebook(course.add_lab("05-a", star)).metadata.coursekit.script_parameters == []


def test_lines_that_only_look_like_magics_stay(course):
    """A formula may be broken before a percent sign; cell magics and commands of the shell go."""
    formula = "x = (\n    7\n    % 4\n)\n"
    text = f'{HOROVOD}{MAIN}# %% tags=["script"]\n{formula}# %% tags=["script"]\n# %%time\n# !ls\ny = 1\n'
    lab = course.add_lab("05-a", text)
    build_sources(course.root, [lab])
    twin = (course.root / "build" / "source" / "05-a" / "train.py").read_text(encoding="utf-8")

    _, after_main = twin.split("    return 1\n")
    cells, _ = after_main.split("def _plain")
    assert cells.split() == [*formula.split(), "y", "=", "1"]


def mark_as_answers(text: str) -> str:
    """Return a twin as `coursekit script` makes it."""
    from coursekit.labs.build.twin import marked

    return marked(text.split("\n\n\n# Made", maxsplit=1)[0] + "\n", "answers")


@pytest.mark.parametrize(
    "work",
    [
        lambda text: text.replace("raise NotImplementedError", "return 1  #"),
        lambda text: text.replace("release", "solution"),
        lambda _: "print('my own')\n",
        mark_as_answers,
    ],
)
@pytest.mark.parametrize("what_follows", ["another build", "no script cells", "no lab"])
def test_somebodys_own_script_stays(course, lab, built, work, what_follows):
    """An edited twin, one with answers and a file of that name by somebody else are neither replaced nor removed."""
    own = work(built.read_text(encoding="utf-8"))
    built.write_text(own, encoding="utf-8")
    labs = [lab]
    if what_follows == "no script cells":
        course.add_lab("05-sums", "# %%\nx = 1\n")
    elif what_follows == "no lab":
        labs = [course.add_lab("06-b")]
        for path in lab.folder.iterdir():
            path.unlink()
        lab.folder.rmdir()

    with pytest.raises(CourseKitError, match=r"05-sums/train\.py is not as the builder made it and may hold a student"):
        build_release(course.root, labs)
    assert built.read_text(encoding="utf-8") == own


def test_a_script_of_ones_own_in_a_lab_that_gets_a_twin_stays(course, lab):
    """The builder has never made this file, so it is not its to replace."""
    course.add_lab("05-sums", "# %%\nx = 1\n")
    build_release(course.root, find_labs(course.root))
    own = course.root / "labs" / "05-sums" / "train.py"
    own.write_text("print('my own')\n", encoding="utf-8")
    build_release(course.root, find_labs(course.root))
    lab.source.write_text(f"{HOROVOD}{MAIN}", encoding="utf-8")

    with pytest.raises(CourseKitError, match=r"05-sums/train\.py is not as the builder made it"):
        build_release(course.root, [lab])
    assert own.read_text(encoding="utf-8") == "print('my own')\n"


def test_a_twin_goes_with_the_script_cells(course, built):
    """When the lab has none any more, the builder removes what it made."""
    lab = course.add_lab("05-sums", "# %%\nx = 1\n")
    build_release(course.root, [lab])

    assert not built.exists()
    assert sorted(course.files("build/source")) == ["05-sums/05-sums.ipynb"]
