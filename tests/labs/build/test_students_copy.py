"""The folder that is published for students: all they need, and no answer."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import grimp
import nbformat
import pytest

from coursekit.cli import GROUPS
from coursekit.errors import CourseKitError
from coursekit.labs.build.build import build_sources
from coursekit.labs.build.students_copy import MANIFEST, NOT_FOR_STUDENTS, PARTS, students_files, write_copy
from coursekit.labs.lab import find_labs, select_labs
from workshop.rehearsal.course_copy import until_ranks_have_run

ROOT = Path(__file__).parents[3]
COPIED = ("labs", "solutions", "slurm", "students", "tools", "docs", "src")
REGION = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END \1", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
STUDENTS_VERBS = [verb for user in ("For students", "About the machine") for verb in GROUPS[user]]
SHORTEST = 20  # shorter lines stand in many places


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Return a students' copy of this checkout."""
    folder = tmp_path_factory.mktemp("students") / "copy"
    write_copy(ROOT, students_files(ROOT), folder)
    return folder


@pytest.fixture(scope="module")
def installed(copy, tmp_path_factory):
    """Return a students' copy to work in, and a folder with the package that is made from it, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    own = shutil.copytree(copy, folder / "own")
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=own, capture_output=True, check=True)
    (wheel,) = folder.glob("coursekit-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return own, folder / "site"


@pytest.fixture
def checkout(tmp_path):
    """Return a checkout of one's own, to spoil."""
    root = tmp_path / "checkout"
    root.mkdir()
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for path in ROOT.glob("*"):
        if path.is_file():
            shutil.copy2(path, root)
    shutil.copy2(ROOT / ".gitignore", root)
    return root


def coursekit(folder, *words, **variables):
    """Call the command in a folder of the copy, and return status, output and error output."""
    environ = {name: value for name, value in os.environ.items() if name != "COURSEKIT_ROOT"}
    done = subprocess.run(
        [sys.executable, "-m", "coursekit", *words],
        cwd=folder / "labs",
        env={**environ, **variables},
        timeout=900,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def lines_of(kind, lab="*"):
    """Return the lines of a lab's regions of a kind that stand nowhere outside of regions."""
    found = set()
    for source in ROOT.glob(f"solutions/{lab}/*.py"):
        text = source.read_text()
        public = REGION.sub("", text)
        inside = "".join(region[2] for region in REGION.finditer(text) if region[1] == kind)
        found |= {line.strip() for line in inside.splitlines() if line.strip() not in public}
    return {line for line in found if len(line) >= SHORTEST}


def texts(folder, *names):
    """Return the text of all files by path; of notebooks also what their JSON says, line by line."""
    paths = [path for name in names for path in sorted((folder / name).rglob("*")) if path.is_file()]
    found = {path.relative_to(folder).as_posix(): path.read_text(errors="replace") for path in paths}
    for name in [name for name in found if name.endswith(".ipynb")]:
        cells = nbformat.reads(found[name], as_version=4).cells
        found[name] += "\n".join(f"{cell.source}\n{json.dumps(cell.get('outputs', ''))}" for cell in cells)
    return found


def test_no_hidden_test_and_no_answer_is_in_it(copy):
    """No file has a line of a hidden test, no lab a line of its answers; labs, scripts and pages have no marker."""
    hidden, everywhere, shown = lines_of("HIDDEN TESTS"), texts(copy, "."), texts(copy, "labs", "slurm", "docs")
    answers = {lab.name: lines_of("SOLUTION", lab.name) for lab in find_labs(ROOT)}

    assert (len(hidden) > 20, min(map(len, answers.values())) > 10) == (True, True)  # there is something to find
    assert [(name, line) for line in hidden for name, text in everywhere.items() if line in text] == []
    for lab, lines in answers.items():
        own = texts(copy, f"labs/{lab}")
        assert [(name, line) for line in lines for name, text in own.items() if line in text] == []
    assert [name for name, text in shown.items() if "### BEGIN" in text] == []
    assert [name for name in everywhere if Path(name).name in NOT_FOR_STUDENTS] == []
    assert not {"solutions", "tests", "course", "build", "jobs"} & {path.name for path in copy.iterdir()}
    assert [path.name for path in (copy / "src").iterdir()] == ["coursekit"]  # not what authors alone need


def test_of_the_package_it_has_what_students_commands_import(copy):
    """Their modules, and all that these import, at once or later; of the parts that it has only in part, no more."""
    graph = grimp.build_graph("coursekit", cache_dir=None)
    partly = tuple(part.removeprefix("src/").replace("/", ".") for part in PARTS)
    verbs = {f"coursekit.cli.{verb.replace('-', '_')}" for verb in STUDENTS_VERBS}
    needed = {*verbs, "coursekit.cli", *(one for one in graph.modules if not one.startswith(partly))}
    needed |= {module for one in needed for module in graph.find_upstream_modules(one)}
    needed |= {".".join(parts[:i]) for parts in (one.split(".") for one in needed) for i in range(1, len(parts))}
    files = {path.relative_to(copy / "src").with_suffix("") for path in (copy / "src" / "coursekit").rglob("*.py")}
    modules = {".".join(file.parts).removesuffix(".__init__") for file in files}

    assert modules - {"coursekit.jupyter.settings.nbgrader_config"} == needed  # which Jupyter reads
    assert not {"coursekit.grading.judge", "coursekit.course.grade", "coursekit.jupyter.hub"} & modules


def test_pages_show_and_name_what_is_there(copy):
    """No link of a page, and no picture, leads to what students do not have."""
    pages = [*copy.glob("*.md"), *copy.glob("docs/*.md"), *copy.glob("labs/**/*.md")]
    links = {(page, link) for page in pages for link in LINK.findall(page.read_text())}
    pictures = [link for _, link in links if link.endswith(".png")]

    assert (len(pages) >= 6, len(pictures) > 0) == (True, True)
    assert sorted(f"{page}: {link}" for page, link in links if not (page.parent / link).exists()) == []


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["execute", "01"], 1, "(loss-tests)"),
        (["submit", "02", "--site", "karolina"], 1, "[answer.missing]"),
        (["submit", "77", "--site", "karolina"], 1, "[lab.unknown]"),
        (["jobs"], 0, "coursekit submit LAB"),
        (["predict", "03", "--site", "karolina"], 0, "images/s"),
        (["script", "03"], 1, "[answer.missing]"),
        (["hand-in", "01", "--student", "ada"], 0, "01-sgd--ada--"),
        (["doctor"], 0, "Ready"),
        (["data", "check", "none"], 1, "none"),
        (["kernel", "install", "--site", "local", "--prefix", "."], 0, "coursekit-local"),
        (["sites"], 0, "karolina"),
        (["sites", "show", "karolina"], 0, "(karolina, current)"),
        (["grade"], 2, "'grade'"),
        (["--help"], 0, "hand-in"),
    ],
    ids=lambda one: " ".join(one[:2]) if isinstance(one, list) else "",
)
def test_students_commands_run(installed, words, status, said):
    """From the copy's package alone each does what it does in a checkout; what is for others is unknown."""
    folder, site = installed
    done = coursekit(folder, *words, PYTHONPATH=str(site))

    assert (done[0], said in done[1] + done[2]) == (status, True), done
    assert "ModuleNotFoundError" not in done[1] + done[2]


def test_answers_run_on_ranks(installed):
    """From the copy's package alone: lab 02 with its solutions, up to the first ranks."""
    folder, site = installed
    (lab,) = select_labs(ROOT, ["02"])
    notebook = nbformat.read(build_sources(ROOT, [lab])[lab.name], as_version=4)
    notebook.cells = until_ranks_have_run(notebook.cells)
    nbformat.write(notebook, folder / "labs" / lab.name / f"{lab.name}.ipynb")
    status, output, errors = coursekit(folder, "execute", "02", PYTHONPATH=str(site))

    assert any("ranks.run(" in cell.source for cell in notebook.cells)
    assert status == 0, output + errors


def test_every_target_of_its_makefile_has_what_it_calls(copy):
    """What needs tests, slides or the authors' program is not there."""
    targets = re.findall(r"^([a-z-]+):", (copy / "Makefile").read_text(), re.MULTILINE)
    called = set(re.findall(r"(?:tools|\.venv/bin)/[\w.-]*\w", (copy / "Makefile").read_text()))

    assert {"help", "env", "torch", "lab", "doctor", "clean"} <= {*targets}
    assert not {"test", "check", "slides"} & {*targets}
    assert [name for name in called if name.startswith("tools/") and not (copy / name).is_file()] == []


def test_copy_is_brought_up_to_date(checkout, tmp_path):
    """Again, nothing changes; what a later copy lacks is removed; git's folder and one's own files stay."""
    folder = tmp_path / "copy"
    (folder / ".git").mkdir(parents=True)
    files = students_files(checkout)
    assert write_copy(checkout, files, folder) == len(files)
    assert write_copy(checkout, files, folder) == 0
    assert write_copy(checkout, files, checkout / "for-students") == len(files)  # as the guide says

    (folder / "notes.md").write_text("my own")
    (folder / "Makefile").write_text("old")
    later = {name: data for name, data in files.items() if name != "environment.yml"}

    assert write_copy(checkout, later, folder) == 1
    assert (folder / "Makefile").read_bytes() == files["Makefile"]
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {*later, "notes.md", MANIFEST}
    assert (folder / ".git").is_dir()


def test_other_folders_are_left_alone(checkout, tmp_path):
    """A folder with something else in it, or a part of the checkout, is refused and stays as it is."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    for folder, code in (
        (tmp_path / "mine", "copy.other-files"),
        (checkout, "copy.other-files"),
        (checkout / "labs" / "x", "copy.in-checkout"),
    ):
        with pytest.raises(CourseKitError) as caught:
            write_copy(checkout, {"README.md": b""}, folder)
        assert caught.value.code == code
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    assert not (checkout / "labs" / "x").exists()


def test_notebook_that_somebody_answered_is_not_published(checkout, tmp_path):
    """An answer written into labs/ stops the copy; so does one that is left in an output; and one in the copy stays."""
    notebook = checkout / "labs" / "01-sgd" / "01-sgd.ipynb"
    clean = notebook.read_bytes()
    write_copy(checkout, students_files(checkout), tmp_path / "copy")

    notebook.write_bytes(clean.replace(b"raise NotImplementedError", b"return 1"))
    with pytest.raises(CourseKitError, match=r"01-sgd\.ipynb .*\[notebook\.edited\]"):
        students_files(checkout)

    content = nbformat.reads(clean.decode(), as_version=4)
    code = next(cell for cell in content.cells if cell.cell_type == "code")
    answer = min(lines_of("SOLUTION", "01-sgd"))
    code.outputs = [nbformat.v4.new_output("stream", text=answer)]
    notebook.write_text(nbformat.writes(content))
    with pytest.raises(CourseKitError, match=r"^01-sgd: cell .*\[release\.leak\]"):
        students_files(checkout)

    notebook.write_bytes(clean)
    answered = tmp_path / "copy" / "labs" / "01-sgd" / "01-sgd.ipynb"
    answered.write_bytes(clean.replace(b"raise NotImplementedError", b"return 1"))
    with pytest.raises(CourseKitError, match=r"01-sgd\.ipynb .*\[notebook\.edited\]"):
        write_copy(checkout, students_files(checkout), tmp_path / "copy")
