"""Ask a machine whether its site file is right: on the login node and, if wanted, in a job on a node of each kind."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from coursekit.errors import CourseKitError
from coursekit.files import write_text
from coursekit.processes import kill_below
from coursekit.slurm.jobs.job_script import JobScript, directives
from coursekit.slurm.jobs.slurm_cli import call, job_environment, look
from coursekit.slurm.sites.profile import Site, ToConfirm
from coursekit.slurm.sites.questions import Question, about, value_at
from coursekit.text import markdown_table

ASK_S = 120.0  # a command that needs longer was not answered
LATE_S = 20.0  # how late a job's file may appear on a parallel file system
POLL_S = 2.0
FOLDER = "build/confirm"  # of the jobs' scripts and outputs
MARK = "=== coursekit question"
SCRIPT = """\
{shell}
{directives}
{after}
export LC_ALL=C
ask() {{ printf '\\n{mark} %s\\n' "$1"; timeout --kill-after=5 {ask_s:g} bash -l -c "$2" </dev/null 2>&1; }}
{asks}
"""


class State(Enum):
    """What a machine's answer says about a claim."""

    SETTLED = "settled"
    DIFFERS = "differs"
    NOT_ASKED = "could not be asked"


@dataclass(frozen=True)
class Answer:
    """The machine's answer to a question: the values seen or, if there are none, the reason."""

    question: Question
    seen: tuple[str, ...] = ()
    why: str = ""

    @property
    def state(self) -> State:
        """What the answer says about the claim, which is settled if all expected values were seen."""
        if not self.seen:
            return State.NOT_ASKED
        return State.SETTLED if {*self.question.expected} <= {*self.seen} else State.DIFFERS

    @property
    def correction(self) -> str:
        """The machine's only value, if the file has a different value; '' if a person must choose."""
        is_clear = self.state is State.DIFFERS and self.question.names_value and len(self.seen) == 1
        return self.seen[0] if is_clear else ""


def jobs_needed(site: Site, asked: Iterable[Question], account: str) -> list[JobScript]:
    """Return a job for each partition on whose nodes questions are asked."""
    keys = dict.fromkeys(one.partition for one in asked if one.partition)
    return [JobScript(site, "confirm", key=key, num_nodes=1, account=account) for key in keys]


def ask(
    root: Path, asked: Sequence[Question], on_node: Mapping[str, str], report: Callable[[Answer], None]
) -> list[Answer]:
    """Ask all questions, and report each answer as soon as it is there; `on_node` has the jobs' outputs by partition.

    Commands run in the checkout, in a login shell, because modules exist only there.
    Questions that need a node are not asked here.
    """
    outputs: dict[str, str | None] = {}  # of each command: several questions may share one
    answers = []
    for one in asked:
        if one.partition:
            number = [other for other in asked if other.partition == one.partition].index(one)
            output = _part(on_node[one.partition], number) if one.partition in on_node else None
        else:
            output = outputs[one.command] if one.command in outputs else _output(root, one.command)
            outputs[one.command] = output
        answers.append(_answer(one, output))
        report(answers[-1])
    return answers


def _answer(question: Question, output: str | None) -> Answer:
    if output is None:
        needs = f"it needs a job on a node of {question.partition}"
        return Answer(question, why=needs if question.partition else f"no answer in {ASK_S:g} s")
    if seen := question.seen(output):
        return Answer(question, seen)
    lines = output.strip().splitlines()
    return Answer(question, why=f"the command printed: {lines[-1].strip()}" if lines else "the command printed nothing")


def _output(root: Path, command: str) -> str | None:
    """Return what a command prints, errors included; if it takes too long, kill it and its children; return None."""
    with subprocess.Popen(
        ["bash", "-l", "-c", command],
        cwd=root,
        env={**job_environment(), "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as shell:
        try:
            return shell.communicate(timeout=ASK_S)[0]
        except subprocess.TimeoutExpired:
            return None
        finally:
            kill_below(shell.pid)
            shell.kill()


def run_job(root: Path, job: JobScript, asked: Iterable[Question], wait: Callable[[str], None]) -> str:
    """Run in one job the commands of all questions about the job's partition, and return its output.

    `wait` is called with the job's state each time the state has changed; if you interrupt this, the job is cancelled.

    Raises:
        SlurmError: Slurm refuses the job, or does not answer.
        CourseKitError: the job ended without its output.
    """
    commands = [one.command for one in asked if one.partition == job.key]
    asks = "\n".join(f"ask {number} {shlex.quote(command)}" for number, command in enumerate(commands))
    lines = "\n".join(directives(job))
    script, output = (root / FOLDER / f"{job.site.name}-{job.key}.{suffix}" for suffix in ("sbatch", "out"))
    script.parent.mkdir(parents=True, exist_ok=True)
    output.unlink(missing_ok=True)
    software, after = job.site.software, "\n".join(job.site.software.after)
    text = SCRIPT.format(shell=software.shell, directives=lines, after=after, asks=asks, mark=MARK, ask_s=ASK_S)
    write_text(script, text)
    # On the command line, because there it counts more than $SBATCH_ACCOUNT.
    charged = [f"--account={job.account}{job.partition.account_suffix}"] if job.account else []
    words = ["--parsable", f"--output={output}", *charged, str(script)]
    said = call("sbatch", *words, folder=root, environ=job_environment())
    job_id = said.strip().splitlines()[-1].partition(";")[0]
    try:
        _until_end(job_id, wait)
    except BaseException:
        call("scancel", job_id)
        raise
    deadline = time.monotonic() + LATE_S
    while not output.exists() and time.monotonic() < deadline:
        time.sleep(POLL_S)
    if not output.exists():
        raise CourseKitError(f"job {job_id} left no output: ask `sacct -j {job_id}` why.", "confirm.no-output")
    return output.read_text(encoding="utf-8", errors="replace")


def _until_end(job_id: str, wait: Callable[[str], None]) -> None:
    shown = ""
    while not (state := look([job_id])[job_id]).ended:
        if (words := " ".join(filter(None, (state.state, state.reason)))) != shown:
            wait(f"job {job_id}: {words}")
            shown = words
        time.sleep(POLL_S)


def _part(output: str, number: int) -> str:
    """Return what one of a job's commands printed; '' if the job ended before this command ran."""
    parts = re.split(rf"^{MARK} (\d+)\n", output, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2])).get(str(number), "")


def state_of(note: ToConfirm, answers: Iterable[Answer]) -> State:
    """Return what the answers say about a doubt, which is settled if all questions about it are settled."""
    answers = list(answers)
    asked = about(note, [one.question for one in answers])
    states = {one.state for one in answers if one.question in asked}
    if State.DIFFERS in states:
        return State.DIFFERS
    return State.SETTLED if states == {State.SETTLED} else State.NOT_ASKED


def corrected(text: str, site: Site, answers: Sequence[Answer]) -> str:
    """Return the text of a site's file with the machine's values, and without the doubts that are settled.

    A value is set only if it is a single number or text on a separate line, and the machine gave exactly one value.
    A doubt is removed if each question about it is settled, or is answered by a value that is set.
    """
    changed: set[str] = set()
    for one in answers:
        value, key = one.correction, one.question.key
        if value and (new := _with_value(text, key, value, value_at(site, key))):
            text, changed = new, {*changed, key}
    head, *notes = re.split(r"^(?=\[\[confirm\]\])", text, flags=re.MULTILINE)
    kept = [note for note, block in zip(site.confirm, notes) if not _is_done(note, answers, changed)]
    blocks = dict(zip(site.confirm, notes))
    return (head + "".join(blocks[note] for note in kept)).rstrip("\n") + "\n"


def _is_done(note: ToConfirm, answers: Sequence[Answer], changed: set[str]) -> bool:
    asked = about(note, [one.question for one in answers])
    mine = [one for one in answers if one.question in asked]
    return bool(mine) and all(one.state is State.SETTLED or one.question.key in changed for one in mine)


def _with_value(text: str, key: str, value: str, old: object) -> str:
    """Return a file's text with another value at a key; '' if that cannot be done safely."""
    if isinstance(old, bool) or not isinstance(old, (str, int)) or (isinstance(old, int) and not value.isdecimal()):
        return ""
    table, _, name = key.rpartition(".")
    start = rf"^\[{re.escape(table)}\]\n" if table else r"\A"
    found = re.search(rf"{start}(?:(?!\[).*\n)*?{re.escape(name)} = (\"[^\"\n]*\"|\d+)", text, re.MULTILINE)
    new = value if isinstance(old, int) else json.dumps(value)
    return text[: found.start(1)] + new + text[found.end(1) :] if found else ""


def report(site: Site, answers: Sequence[Answer], account: str = "") -> dict[str, Any]:
    """Return the report to send back: keys, doubts and values, without your name, home folder and project.

    What a command printed instead of a value is not in it, because that may name anything.
    """
    environ = (os.environ.get(name, "") for name in ("USER", "SBATCH_ACCOUNT"))
    private = [re.escape(word) for word in (str(Path.home()), account, *environ) if word.strip("/")]

    def public(word: str) -> str:
        return re.sub("|".join(private), "…", word, flags=re.IGNORECASE) if private else word

    return {
        "site": site.name,
        "doubts": [
            {"key": note.key, "doubt": note.doubt, "state": state_of(note, answers).value} for note in site.confirm
        ],
        "answers": [
            {
                "key": one.question.key,
                "state": one.state.value,
                "expected": list(one.question.expected),
                "seen": [public(word) for word in one.seen],
                "set": public(one.correction),
            }
            for one in answers
        ],
    }


def page(found: Mapping[str, Any]) -> str:
    """Return a report as Markdown: all claims that the machine contradicts or did not answer, then the settled ones."""
    order = [State.DIFFERS.value, State.NOT_ASKED.value, State.SETTLED.value]
    answers = sorted(found["answers"], key=lambda one: order.index(one["state"]))
    rows = ((one["state"], f"`{one['key']}`", _listed(one["expected"]), _seen(one)) for one in answers)
    doubts = ((one["state"], f"`{one['key']}`", one["doubt"]) for one in found["doubts"])
    return (
        f"# {found['site']}: what the machine says\n\n"
        + markdown_table(("", "key", "the file says", "the machine says"), rows)
        + "\n## Doubts\n\n"
        + markdown_table(("", "key", "in doubt"), doubts)
    )


def _seen(one: Mapping[str, Any]) -> str:
    return f"{_listed(one['seen'])}{': set it' if one['set'] else ''}" if one["seen"] else ""


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)
