"""`coursekit execute`, nbgrader's *Validate* and `coursekit grade` give the same points for the same notebook."""

from copy import deepcopy

import nbformat
import pytest
from nbgrader.preprocessors import Execute

from coursekit.grading.judge.pool import PoolSettings, judge_all
from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs
from coursekit.labs.points import nbgrader_settings, score
from coursekit.labs.run.execute import execute_lab
from coursekit.labs.run.plan import LabRun
from coursekit.labs.run.results import Facts
from coursekit.paths import find_root
from workshop.answers.answer_bank import load_bank
from workshop.answers.run_answers import EXPERIMENT, HELPER, asked_tests, job_of, lab_of, share_runs

FACTS = Facts(host="host", device="device", num_cpus=1, versions={}, commit=None, dirty=False)
ROOT, LAB = find_root(), "01-sgd"
NUM_NOTEBOOKS = 2  # each runs three times; the first hold the most mistakes


def students_notebook(source, cells):
    """Return the source with a student's answers in it, a helper of theirs above and an experiment below."""
    notebook = deepcopy(source)
    for cell in notebook.cells:
        cell.source = cells.answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    above, below = (nbformat.v4.new_code_cell(text) for text in (HELPER, EXPERIMENT))
    notebook.cells = [above, *notebook.cells, below]
    return notebook


def whose_verdict_is_certain(group, lab):
    """Leave out mistakes that the check excuses or not, by its draw, since they build upon another mistake.

    A verdict on stability after ten steps instead of 200 is mostly right for a student's own, wrong steps.
    """
    reach = {answer.name: lab.tests_in_reach(answer.cells) for answer in group}
    return [one for one in group if not any({*one.fails} & reach[other.name] for other in group if other is not one)]


@pytest.mark.needs("bwrap")
def test_three_ways_to_run_a_notebook_agree(tmp_path):
    """On notebooks full of the bank's mistakes, with a helper above, and below an experiment that deletes all names."""
    path = build_sources(ROOT, select_labs(ROOT, [LAB]))[LAB]
    source, cells = nbformat.read(path, as_version=4), lab_of(path)
    answers = [one for one in load_bank(ROOT / "tests" / "answers" / LAB, path) if one.fails and not one.consequences]
    asked = {answer.name: frozenset(cells.ids[i] for i in cells.tests) for answer in answers}
    shared = [whose_verdict_is_certain(one, cells) for one in share_runs(answers, cells, asked_tests(answers, cells))]
    groups = sorted(shared, key=len, reverse=True)[:NUM_NOTEBOOKS]
    jobs = [job_of(str(number), group, path, cells, asked)[0] for number, group in enumerate(groups)]
    verdicts = list(judge_all(jobs, {LAB: path}, PoolSettings()))
    graded = {int(one.student): {test.grade_id: test.points for test in one.scores} for one in verdicts}

    for number, job in enumerate(jobs):
        notebook = students_notebook(source, job.cells)
        beside = tmp_path / str(number) / "notebook" / f"{LAB}.ipynb"
        beside.parent.mkdir(parents=True)
        nbformat.write(notebook, beside)
        run = LabRun(LAB, LAB, beside, {}, 1, time_limit_s=600, goes_on=True)
        executed = execute_lab(run, tmp_path / str(number) / "run", FACTS, lambda *_: None)
        validated, _ = Execute(config=nbgrader_settings()).preprocess(notebook, {"metadata": {"path": str(tmp_path)}})

        for scores in (executed.scores, score(validated)):
            points = {test.grade_id: test.points for test in scores}
            assert {name: points[name] for name in graded[number]} == graded[number]
        assert 0 < sum(graded[number].values()) < 20
