"""Flags on a submission: what its source and run show of an attempt, as hints for the instructor, never a verdict."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from coursekit.grading.inside import wire
from coursekit.grading.judge.running import Fault
from coursekit.grading.verdict import Flag
from coursekit.paths import PACKAGE
from coursekit.ranks.own_time import longest_wall_s
from coursekit.text import CONTROL, first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coursekit.grading.judge.conversation import Exchange
    from coursekit.grading.submission.work import Work

# Without the packages of the environment, which take longer to find than a cell to read.
PROGRAM = "import sys; sys.path.append(sys.argv[1]); from coursekit.grading.submission.source_signs import main; main()"
MAX_CPU_S = 10  # which ends the parser; on the wall it may take as long as a busy machine makes it
MAX_MEMORY_BYTES = 1 << 30
LONG_TEXT = 10_000  # characters of an exception
# What a process did instead of returning plain data, by the name of its error.
ODD_ERRORS = {
    "NotPlainError": "odd result",
    "OutputError": "OutputError",
    "ProcessEnded": "ProcessEnded",
    "TimeoutError": "TimeoutError",
    "SystemExit": "process",
    "MemoryError": "memory",
    # What CPython says when it has lost its way: after endless recursion with the limit taken away, for one.
    "SystemError": "broken interpreter",
    "OddReply": "odd reply",
}


def flags_of_source(work: Work) -> tuple[Flag, ...]:
    """Return one flag for each kind of thing that honest answers do not need, with the places.

    The source is parsed, in a process of its own, and never run.

    Raises:
        Fault: the machine was too slow to parse it.
    """
    cells = [*work.answers.items(), *((f"{name or 'top'} (added)", source) for name, source in work.extra)]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", PROGRAM, str(PACKAGE.parent)],
            input=json.dumps(cells),
            capture_output=True,
            text=True,
            check=True,
            timeout=longest_wall_s(MAX_CPU_S),
            env={},
            preexec_fn=_limit,  # it calls the kernel only
        )
    except subprocess.TimeoutExpired as error:
        raise Fault(
            f"the machine was too slow or too busy: the source was not parsed in {error.timeout:.0f} s"
        ) from None
    except (subprocess.SubprocessError, OSError):
        return (Flag("unreadable", "A cell is written so that Python's parser fails on it."),)
    places: dict[str, list[str]] = {}
    for kind, what, name, line in json.loads(done.stdout):
        places.setdefault(kind, []).append(f"{what} (cell {name}, line {line})")
    return tuple(
        Flag(kind, f"In the source: {ascii(first_few(found))[1:-1]}.") for kind, found in sorted(places.items())
    )


def flags_of_run(exchanges: Iterable[Exchange]) -> tuple[Flag, ...]:
    """Return one flag for each odd kind of reply to the judge: no plain data, a process that ended, too much."""
    found: dict[str, list[str]] = {}
    for exchange in exchanges:
        for kind, text in _errors(wire.loads(exchange.reply)):
            if kind in ODD_ERRORS:
                found.setdefault(ODD_ERRORS[kind], []).append(text)
            if len(text) >= LONG_TEXT or CONTROL.search(text) or "\N{REPLACEMENT CHARACTER}" in text:
                found.setdefault("odd text", []).append(kind)
    return tuple(
        Flag(kind, f"{len(texts)} times in the run, first: {ascii(texts[0])[1:-1][:300]}.")
        for kind, texts in found.items()
    )


def _errors(reply: Any) -> Iterator[tuple[str, str]]:
    """Yield name and text of the errors in a reply of the launcher's."""
    if "error" in reply:
        yield tuple(reply["error"])
    for cell in reply.get("cells", ()):
        if cell.get("num_odd"):
            yield "OddReply", f"cell {cell['name']} sent messages of its own to the judge"
        if cell["error"] and cell["error"][0] in {"SystemExit", "MemoryError", "SystemError"}:
            yield tuple(cell["error"])
    if reply.get("num_odd"):
        yield "OddReply", "the process sent messages of its own to the judge"
    for _, _, kind, text, _ in reply.get("reports", ()):
        yield kind, text
    told = {report[0] for report in reply.get("reports", ())}
    for rank, code in dict(reply.get("exit_codes", {})).items():
        # Ranks whose peer has failed are killed by the kit.
        if rank not in told and code != -signal.SIGKILL:
            yield "ProcessEnded", f"rank {rank} ended with {code}"


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
