# ruff: noqa: INP001  # a program, and no package
"""Run tests that Horovod ships, `test/parallel` of its repository, on ranks of this kit: `make test-horovod`.

Every rank runs the same file, as under `horovodrun -np 2 pytest`. In a Slurm job the ranks are tasks of a job step.
With `--mpi`, Open MPI's `mpirun` starts the ranks, which then exchange through MPI, not Gloo.
The tests need the packages mock and parameterized, which are in no lock here: `uv pip install mock parameterized`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from coursekit import ranks
from coursekit.errors import CourseKitError
from workshop.mpirun import run_by_mpirun

FILES = ("test_tensorflow2_keras.py", "test_tensorflow.py")
FILE_S = 3600.0
AS_TASK = "--as-task"  # the first argument of what mpirun starts
# They multiply a number of up to 100 of each rank, and compare with tf.math.reduce_prod up to 1e-4. On four ranks such
# products overflow float16, and in float32 two orders of multiplication differ by 4: no library passes there.
PRODUCTS = ("test_horovod_allreduce_product_cpu", "test_horovod_grouped_allreduce_product_cpu")
MOST_RANKS_OF_PRODUCTS = 2


class Tally:
    """A plugin of pytest that counts how tests ended, and keeps what failures said."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test by the phase that decides about it."""
        if report.when == "call" or not report.passed:
            self.outcomes[report.outcome] += 1
        if report.failed:
            self.failures.append(f"{report.nodeid}\n{report.longreprtext}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count a file that cannot be read as a failure."""
        if report.failed:
            self.outcomes["failed"] += 1
            self.failures.append(f"{report.nodeid}\n{report.longreprtext}")


def run_file(path: str, left_out: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """Run a file's tests on this rank but for some names; return the number of tests by outcome, and what failed."""
    tally = Tally()
    settings = ("--quiet", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", "/dev/null", "--rootdir")
    chosen = ("-k", f"not ({' or '.join(left_out)})") if left_out else ()
    pytest.main([path, *chosen, *settings, str(Path(path).parent)], plugins=[tally])
    return dict(tally.outcomes), tally.failures


def with_gloo(path: str, left_out: Sequence[str], num_ranks: int) -> list[tuple[dict[str, int], list[str]]]:
    """Run a file on ranks of the kit; return of each what `run_file` returns."""
    limits = {"num_ranks": num_ranks, "timeout_s": FILE_S, "show_output": False}
    return ranks.run(run_file, path, left_out, **limits)


def with_mpi(path: str, left_out: Sequence[str], num_ranks: int) -> list[tuple[dict[str, int], list[str]]]:
    """Run a file on ranks that `mpirun` starts; return the same."""
    with tempfile.TemporaryDirectory(prefix="horovod-tests-") as folder:
        program = [sys.executable, __file__, AS_TASK, folder, path, *left_out]
        options = ("--oversubscribe", "--bind-to", "none")
        said = run_by_mpirun(program, num_ranks, Path(folder), options=options, timeout_s=FILE_S)
        files = [Path(folder, str(rank)) for rank in range(num_ranks)]
        if not all(file.exists() for file in files):
            raise CourseKitError(f"mpirun failed: {said[-2000:]}")
        return [json.loads(file.read_text()) for file in files]


def run_as_task(folder: str, path: str, *left_out: str) -> int:
    """Run a file's tests on this task of `mpirun`, and write how they ended into the folder."""
    Path(folder, os.environ["OMPI_COMM_WORLD_RANK"]).write_text(json.dumps(run_file(path, left_out)))
    return 0


def main() -> int:
    """Run the files that were asked for on each number of ranks; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="with Horovod's tests for several processes: test/parallel")
    parser.add_argument("files", nargs="*", help=f"names in it (default: {' '.join(FILES)})")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4], help="numbers of ranks (default: 2 4)")
    parser.add_argument("--mpi", action="store_true", help="start the ranks by mpirun: they exchange through MPI")
    options = parser.parse_args()
    paths = [options.folder.resolve() / name for name in options.files or FILES]
    for path in paths:
        if not path.is_file():
            parser.error(f"there is no file {path}: name the folder test/parallel of Horovod 0.28.1's repository")
    num_failed = 0
    for num_ranks in options.ranks:
        for path in paths:
            num_failed += told(path, num_ranks, mpi=options.mpi)
    return 1 if num_failed else 0


def told(path: Path, num_ranks: int, *, mpi: bool) -> int:
    """Run a file on some ranks, say how that ended, and return how many tests failed on some rank."""
    print(f"{path.name} on {num_ranks} ranks{' with MPI' * mpi} … ", end="", flush=True)
    left_out = PRODUCTS if num_ranks > MOST_RANKS_OF_PRODUCTS else ()
    try:
        by_rank = (with_mpi if mpi else with_gloo)(str(path), left_out, num_ranks)
    except (CourseKitError, ranks.RankError) as error:
        print(f"did not end: {error}")
        return 1
    print("; ".join(f"rank {rank}: {_counts(outcomes)}" for rank, (outcomes, _) in enumerate(by_rank)))
    for rank, (_, failures) in enumerate(by_rank):
        for failure in failures:
            print(f"[{rank}] {failure}")
    num_run = [sum(outcomes.values()) for outcomes, _ in by_rank]
    return sum(len(failures) for _, failures in by_rank) + num_run.count(0)


def _counts(outcomes: dict[str, int]) -> str:
    return ", ".join(f"{num} {outcome}" for outcome, num in sorted(outcomes.items())) or "no tests"


if __name__ == "__main__":
    sys.exit(run_as_task(*sys.argv[2:]) if sys.argv[1:2] == [AS_TASK] else main())
