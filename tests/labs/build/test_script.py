"""The script of a lab: what goes into it, what it does on real ranks, whose file it is, with a student's answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import cloudpickle
import pytest
from click.testing import CliRunner

from coursekit import ranks
from coursekit.cli import cli
from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_release, build_sources, source_notebook
from coursekit.labs.build.script import answered_script, kind_of, script_files

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules

BIN = Path(sysconfig.get_path("scripts"))

RELEASED_CELLS = '''

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
    return {"title": title, "numbers": all_sums(numbers), "size": hvd.size(), "first": np.float32(numbers[0])}'''


@pytest.fixture
def lab(course, script_example):
    """Return a lab with a script."""
    return course.add_lab("05-sums", script_example)


@pytest.fixture
def built(course, lab) -> Path:
    """Build everything, and return the students' script."""
    build_release(course.root, [lab])
    return course.root / "labs" / "05-sums" / "train.py"


def test_students_get_the_script_cells_with_stubs(course, built):
    """In their order, without markers, magics, tests and what only the notebook needs; the source has the answers."""
    text, mark = built.read_text(encoding="utf-8").split("\n\n\n# Made, not edited: ")
    source = (course.root / "build" / "source" / "05-sums" / "train.py").read_text(encoding="utf-8")
    head, _, cells = text.partition("globals().update(vars(_parser.parse_args()))\n")

    assert head.startswith('"""Lab 05: Sums "on" ranks: the notebook\'s training as a script.\n')
    assert "Made by `coursekit build` from solutions/05-sums/05-sums.py" in head
    assert """\nnum_steps = 3  # of each rank, 100 %\nrate = 0.5\ntitle = "sums"  # or 'a "better" name'\n""" in head
    assert cells.partition("\n\n\ndef _plain(")[0] == RELEASED_CELLS
    assert re.fullmatch("release [0-9a-f]{64}\n", mark)
    assert "return hvd.allreduce(numbers, op=hvd.Sum).numpy()" in source
    assert "NotImplementedError" not in source
    assert [line for line in text.splitlines() if line not in source.splitlines()] == [
        "`coursekit script 05` makes a script with the answers from your notebook.",
        *['    raise NotImplementedError("your answer goes here")'] * 2,
    ]


def call_main(text, parameters):
    """Do what the notebook does on a rank: define everything, with these parameters, and call `main`."""
    names = {"__name__": "notebook"}
    exec(text, names)  # noqa: S102  # that is what it is for
    names.update(parameters)
    return names["main"]()


def test_the_launched_script_does_what_the_notebook_does(course, lab):
    """`horovodrun -np 2` with some parameters changed prints, once, what `ranks.run(main)` returns on rank 0."""
    build_sources(course.root, [lab])
    script = course.root / "build" / "source" / "05-sums" / "train.py"
    expected, _ = ranks.run(call_main, script.read_text(encoding="utf-8"), {"num_steps": 4, "rate": 0.25, "fast": True})
    done = subprocess.run(
        [
            *(BIN / "horovodrun", "-np", "2", "--gloo", "--network-interfaces", "lo", sys.executable, script),
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


@pytest.mark.needs("mpirun")
@pytest.mark.parametrize(("joined_by", "status"), [("mpi", 0), ("gloo", 1)])
def test_tasks_that_horovod_has_not_joined_are_refused(course, lab, tmp_path, joined_by, status):
    """Each would train alone and claim success: nothing is trained, and the number of ranks is noted only if it is."""
    build_sources(course.root, [lab])
    script = course.root / "build" / "source" / "05-sums" / "train.py"
    note = tmp_path / "num-ranks"
    joining = {"HOROVOD_CONTROLLER": joined_by, "HOROVOD_CPU_OPERATIONS": joined_by}
    done = subprocess.run(
        ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", sys.executable, script],
        env={**os.environ, **joining, "COURSEKIT_NUM_RANKS_FILE": str(note)},
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
    )
    refused = [line for line in done.stderr.splitlines() if line.startswith("train.py: 2 tasks were started")]

    assert done.returncode == status, done.stderr
    if status:
        assert ("result:" in done.stdout, note.exists()) == (False, False)
        assert refused
        assert all(
            "joined 1" in line and "HOROVOD_CONTROLLER" in line and "horovodrun -np 2" in line for line in refused
        )
    else:
        assert (note.read_text(), refused) == ("2\n", [])


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
    ("text", "line", "word", "code"),
    [
        (f'# %% [markdown] tags=["script"]\n# Hello\n\n{HOROVOD}{MAIN}', 1, "script", "script.text-cell"),
        (HOROVOD, 1, "`main`", "script.not-defined"),
        (MAIN, 1, "`hvd`", "script.not-defined"),
        (
            f'{HOROVOD}{MAIN}# %%\nhelper = 1\n\n# %% tags=["script"]\nprint([helper for _ in range(2)])\n',
            9,
            "`helper`",
            "script.unknown-name",
        ),
        (f'{HOROVOD}{MAIN}# %% tags=["script"]\nx = (1,\n', 6, r"'\(' was never closed", "script.no-python"),
    ],
)
def test_cells_that_make_no_program_are_refused(course, text, line, word, code):
    """With the file and the line of the cell to blame."""
    with pytest.raises(CourseKitError, match=rf"solutions/05-a/05-a\.py:{line}: .*{word}") as caught:
        source_notebook(course.add_lab("05-a", text))

    assert caught.value.code == code


def test_lines_that_only_look_like_magics_stay(course):
    """A formula may be broken before a percent sign; cell magics and commands of the shell go."""
    formula = "x = (\n    7\n    % 4\n)\n"
    text = f'{HOROVOD}{MAIN}# %% tags=["script"]\n{formula}# %% tags=["script"]\n# %%time\n# !ls\ny = 1\n'
    lab = course.add_lab("05-a", text)
    build_sources(course.root, [lab])
    script = (course.root / "build" / "source" / "05-a" / "train.py").read_text(encoding="utf-8")

    _, after_main = script.split("    return 1\n")
    cells, _ = after_main.split("def _plain")
    assert cells.split() == [*formula.split(), "y", "=", "1"]


@pytest.mark.parametrize("is_edited", [True, False])
def test_somebodys_own_script_stays(course, lab, built, is_edited):
    """An edited script and one with answers are not replaced by another build."""
    edited = built.read_text(encoding="utf-8").replace("release", "solution")
    own = edited if is_edited else answered_script(source_notebook(lab), built, "with answers")
    built.write_text(own, encoding="utf-8")

    with pytest.raises(CourseKitError, match=r"05-sums/train\.py"):
        build_release(course.root, [lab])
    assert built.read_text(encoding="utf-8") == own


ANSWERS = {
    "own-sum": "%%time\ndef own_sum(rank):\n    return -1.0 - rank\n",
    "all-sums": "def all_sums(numbers):\n    return hvd.allreduce(numbers, op=hvd.Average).numpy()\n",
}


@pytest.fixture
def folder(built, monkeypatch):
    """Return the student's folder, which is the current one."""
    monkeypatch.chdir(built.parent)
    monkeypatch.delenv("COURSEKIT_ROOT", raising=False)
    return built.parent


def answer(path, answers=ANSWERS):
    """Write these answers, by the cell's id, into a notebook, as Jupyter keeps them: in lists of lines."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["id"] in answers:
            cell["source"] = answers[cell["id"]].splitlines(keepends=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def script(*words: str) -> str:
    """Run the command and return what it prints."""
    return CliRunner().invoke(cli, ["script", *words], catch_exceptions=False).output


def run_as_script(text, *options):
    """Do on a rank what Python does with a script."""
    sys.argv = ["train.py", *options]
    exec(compile(text, "train.py", "exec"), {"__name__": "__main__"})  # noqa: S102  # that is what it is for


def test_answers_and_parameters_of_the_notebook_go_into_the_script(folder, capfd):
    """The script with stubs is replaced, and the new one computes what the student wrote, with options as before."""
    answer(folder / "05-sums.ipynb")
    assert script("05") == "written train.py, in place of the one without answers\n"
    assert script("05-sums") == "written train.py\n"  # its head says by which words it was made
    assert script("05-sums") == "unchanged train.py\n"
    text = (folder / "train.py").read_text(encoding="utf-8")
    assert "Made by `coursekit script 05-sums` from 05-sums.ipynb: change the notebook, then make it again." in text
    ranks.run(run_as_script, text, "--title", "mine")
    results = re.findall(r"^\[(\d)\] result: (.*)$", capfd.readouterr().out, flags=re.MULTILINE)

    assert [rank for rank, _ in results] == ["0"]
    assert json.loads(results[0][1]) == {"title": "mine", "numbers": [-1.5, 1.0], "size": 2, "first": -1.0}


def test_missing_answers_are_named(folder):
    """One sentence, and the script that is there stays."""
    answer(folder / "05-sums.ipynb", {"own-sum": ANSWERS["own-sum"]})
    before = (folder / "train.py").read_bytes()
    with pytest.raises(CourseKitError, match=r"05-sums\.ipynb .* all-sums.*\[answer\.missing\]$"):
        script("05")
    assert (folder / "train.py").read_bytes() == before


def test_the_notebook_of_labs_is_taken_when_the_current_folder_has_none(folder, course, monkeypatch):
    """And the script is written beside it; Jupyter's "-Copy1", without answers, sorts before and is not taken."""
    (folder / "05-sums-Copy1.ipynb").write_bytes((folder / "05-sums.ipynb").read_bytes())
    answer(folder / "05-sums.ipynb")
    monkeypatch.chdir(course.root)
    assert script("5") == f"written {folder / 'train.py'}, in place of the one without answers\n"
    assert kind_of(folder / "train.py") == "answers"


def test_a_script_that_was_edited_is_not_replaced(folder):
    """The file stays."""
    answer(folder / "05-sums.ipynb")
    target = folder / "train.py"
    target.write_text(target.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    before = target.read_bytes()
    with pytest.raises(CourseKitError, match=r"\[script\.edited\]$"):
        script("05")
    assert target.read_bytes() == before


def test_a_name_that_only_the_notebook_knows_is_named(folder):
    """A helper in a cell of the student's own does not reach the script until that cell has the tag."""
    path = folder / "05-sums.ipynb"
    answer(path, {**ANSWERS, "own-sum": "def own_sum(rank):\n    return helper(rank)\n"})
    notebook = json.loads(path.read_text(encoding="utf-8"))
    own = {"cell_type": "code", "id": "own", "metadata": {}, "source": ["def helper(rank):\n", "    return 1.0\n"]}
    notebook["cells"].insert(3, own)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    with pytest.raises(CourseKitError, match=r"05-sums\.ipynb, cell own-sum: .*`helper`.*\[script\.unknown-name\]"):
        script("05")

    own["metadata"] = {"tags": ["script"]}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert script("05").startswith("written")


WITH_TORCH = """# %% [markdown]
# # Lab 06: Ranks
#
# %% tags=["script"] id="imports"
import torch.distributed as dist

# %% tags=["script"] id="main"
def main():
    dist.init_process_group("gloo")
    return dist.get_world_size()
"""


@pytest.mark.needs("torch")
def test_the_script_of_a_lab_with_pytorch_runs_by_torchrun_and_alone(course, tmp_path):
    """Its head says how, it uses nothing of Horovod's, and rank 0 tells the result."""
    lab = replace(course.add_lab("06-ranks", WITH_TORCH), framework="torch")
    text = script_files(source_notebook(lab), "solution")["train.py"].decode()
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    assert "    torchrun --nproc-per-node=2 train.py\n    srun --ntasks=2 python train.py\n" in text
    assert not {"hvd", "horovod", "TensorFlow"} & {*re.findall(r"\w+", text)}
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    for command, size in ((start, 2), ([sys.executable], 1)):
        done = subprocess.run([*command, str(path)], check=False, capture_output=True, text=True)
        assert (done.returncode, f"result: {size}\n" in done.stdout) == (0, True), done.stderr
