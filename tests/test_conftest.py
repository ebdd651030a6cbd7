"""The rules in conftest.py: they are themselves tested, on small test files in a pytest of their own."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from .side_by_side import LONG

RULES = ("conftest.py", "quick.py", "side_by_side.py")
# Of the installed plugins none but the one that is asked for: to load the others takes a third of a run.
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
SIDE_BY_SIDE = ("-p", "xdist", "-n2", "--dist=loadscope", "--no-loadscope-reorder")


@pytest.fixture
def run_pytest(start_pytest):
    """A function that runs a test file under our conftest.py and returns the counts of outcomes and all output."""

    def run(source, *words, **extra):
        with start_pytest(source, *words, **extra) as process:
            try:
                output, _ = process.communicate(timeout=900)
            finally:
                process.kill()
        counts = re.findall(r"(\d+) (passed|failed|skipped|xfailed|error)", output.splitlines()[-1])
        return {outcome: int(count) for count, outcome in counts}, process.returncode, output

    return run


@pytest.fixture
def start_pytest(tmp_path):
    """A function that starts a test file under our rules, or several by name, with these options and variables."""

    def start(sources, *words, **extra):
        folder = tmp_path / "tests"
        for name in RULES:
            rule = Path(__file__).with_name(name).read_text()
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(rule.replace("GRACE_S = 120", "GRACE_S = 0.5"))
        for name, source in (sources if isinstance(sources, dict) else {"test_it.py": sources}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(textwrap.dedent(source))
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib --strict-markers -ra\n")
        environ = {name: value for name, value in os.environ.items() if name != "CI" and "XDIST" not in name}
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words, "tests"],
            cwd=tmp_path,
            env={**environ, **ALONE, **extra},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return start


SKIPPED = """
    import pytest

    @pytest.mark.needs("no-such-program")
    def test_it():
        pass

    @pytest.mark.needs("mpicc")
    def test_mpi():
        pass

    @pytest.mark.xfail
    def test_expected_failure():
        assert False
"""


def test_skip_says_how_to_get_what_is_missing(run_pytest, tmp_path):
    """On a developer's machine a test whose program is missing is skipped, with what to install."""
    counts, status, output = run_pytest(SKIPPED, PATH=str(tmp_path))

    assert (counts, status) == ({"skipped": 2, "xfailed": 1}, 0)
    assert "needs no-such-program: put it on the PATH" in output
    assert "needs mpicc: apt install libopenmpi-dev openmpi-bin, then make env" in output


@pytest.mark.parametrize("words", [(), SIDE_BY_SIDE])
def test_skip_fails_in_ci(words, run_pytest, tmp_path):
    """In CI the same tests fail, and an expected failure stays one."""
    counts, status, output = run_pytest(SKIPPED, *words, PATH=str(tmp_path), CI="true")

    assert (counts, status) == ({"error": 2, "xfailed": 1}, 1)
    assert "a test may not be skipped in CI (Skipped: needs no-such-program: put it on the PATH)" in output


@pytest.mark.parametrize("words", [(), SIDE_BY_SIDE])
def test_process_left_behind_fails_its_test_alone(words, run_pytest, tmp_path):
    """A test that leaves a child or a daemon fails and names it; it is ended, and the next test is not blamed."""
    counts, status, output = run_pytest(
        f"""
        import subprocess
        from pathlib import Path

        def test_child():
            subprocess.Popen(["sleep", "611"])

        def test_daemon():
            subprocess.run(["sh", "-c", "setsid sleep 612 > /dev/null 2>&1 & echo $! > {tmp_path}/pid"], check=True)
            while not Path("/proc", Path("{tmp_path}/pid").read_text().strip(), "comm").read_text() == "sleep\\n":
                pass  # it is still the shell, or setsid

        def test_clean():
            subprocess.run(["sleep", "0.1"], check=True)
    """,
        *words,
    )

    # The failure is the fixture's: pytest counts it as an error beside the passed test.
    assert (counts, status) == ({"passed": 3, "error": 2}, 1)
    assert re.search(r"the test left processes behind: \d+ \(sleep 611\)", output)
    assert re.search(r"the test left processes behind: \d+ \(sleep 612\)", output)
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


@pytest.mark.parametrize("words", [(), SIDE_BY_SIDE])
def test_process_of_a_session_fixture_fails_the_session(words, run_pytest):
    """What a fixture of the session starts must be gone when the session ends."""
    _, status, output = run_pytest(
        """
        import subprocess
        import pytest

        @pytest.fixture(scope="session")
        def server():
            subprocess.Popen(["sleep", "615"])

        def test_it(server):
            pass
    """,
        *words,
    )

    assert status == 1
    assert re.search(r"the session left processes behind: \d+ \(sleep 615\)", output)


@pytest.mark.parametrize("words", [(), SIDE_BY_SIDE])
def test_a_quick_run_says_what_it_leaves_out(words, run_pytest):
    """Tests that need programs, and long files, are left out and counted, whether or not the programs are there."""
    source = """
        import pytest

        @pytest.mark.needs("sh")
        def test_program():
            pass

        def test_it():
            pass
    """
    counts, status, output = run_pytest({"test_it.py": source, LONG[0]: source}, *words, "--quick")

    assert (counts, status) == ({"passed": 1}, 0)
    _, _, table = output.partition("left out: 3 tests, which `make test` runs")
    assert [line.strip() for line in table.splitlines()[1:3]] == ["2 need sh", f"1 of tests/{LONG[0]}: long"]


@pytest.mark.parametrize("words", [(), SIDE_BY_SIDE])
def test_interrupted_fixtures_come_to_their_end(words, start_pytest, tmp_path):
    """After Ctrl-C fixtures have the time that they need, and nothing runs."""
    source = """
        import subprocess
        import time
        from pathlib import Path

        import pytest

        @pytest.fixture(scope="module")
        def server():
            with subprocess.Popen(["sleep", "616"]) as process:
                yield process
                process.kill()
            time.sleep(7)
            Path(__file__).with_suffix(".ended").touch()

        def test_it(server):
            Path(__file__).with_suffix(f".{server.pid}").touch()
            time.sleep(617)
    """
    folder = tmp_path / "tests"
    with start_pytest({"test_a.py": source, "test_b.py": source}, *words) as process:
        num_workers = 2 if words else 1
        while len(begun := list(folder.glob("*.[0-9]*"))) < num_workers:
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=900)

    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert len(list(folder.glob("*.ended"))) == num_workers
    assert not any(Path("/proc", path.suffix[1:]).exists() for path in begun)
