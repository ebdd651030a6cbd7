"""The rules in conftest.py: they are themselves tested, on small test files in a pytest of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")


@pytest.fixture
def run_pytest(tmp_path):
    """A function that runs a test file under our conftest.py and returns the counts of outcomes and all output."""

    def run(source, **extra):
        (tmp_path / "conftest.py").write_text(CONFTEST.read_text().replace("GRACE_S = 5", "GRACE_S = 0.5"))
        (tmp_path / "test_it.py").write_text(textwrap.dedent(source))
        environ = {name: value for name, value in os.environ.items() if name != "CI"}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-ra", "--strict-markers", "test_it.py"]
        done = subprocess.run(
            command, cwd=tmp_path, env={**environ, **extra}, capture_output=True, text=True, check=False, timeout=60
        )
        counts = re.findall(r"(\d+) (passed|failed|skipped|xfailed|error)", done.stdout.splitlines()[-1])
        return {outcome: int(count) for count, outcome in counts}, done.returncode, done.stdout

    return run


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


def test_skip_fails_in_ci(run_pytest, tmp_path):
    """In CI the same tests fail, and an expected failure stays one."""
    counts, status, output = run_pytest(SKIPPED, PATH=str(tmp_path), CI="true")

    assert (counts, status) == ({"error": 2, "xfailed": 1}, 1)
    assert "a test may not be skipped in CI (Skipped: needs no-such-program: put it on the PATH)" in output


def test_module_that_skips_itself_fails_in_ci(run_pytest):
    """A whole module cannot be skipped in CI either."""
    source = "import pytest\npytest.importorskip('no_such_module')\n"

    assert run_pytest(source)[1] == pytest.ExitCode.NO_TESTS_COLLECTED
    assert run_pytest(source, CI="true")[1] == pytest.ExitCode.INTERRUPTED


def test_program_that_is_there_is_used(run_pytest, tmp_path):
    """A test runs when what it needs is on the PATH."""
    (tmp_path / "no-such-program").write_text("")
    (tmp_path / "no-such-program").chmod(0o755)

    assert run_pytest(SKIPPED, PATH=str(tmp_path))[0] == {"passed": 1, "skipped": 1, "xfailed": 1}


def test_process_left_behind_fails_its_test_alone(run_pytest, tmp_path):
    """A test that leaves a child or a daemon fails and names it; it is ended, and the next test is not blamed."""
    counts, status, output = run_pytest(f"""
        import subprocess

        def test_child():
            subprocess.Popen(["sleep", "611"])

        def test_daemon():
            subprocess.run(["sh", "-c", "setsid sleep 612 > /dev/null 2>&1 & echo $! > {tmp_path}/pid"], check=True)

        def test_clean():
            subprocess.run(["sleep", "0.1"], check=True)
    """)

    # The failure is the fixture's: pytest counts it as an error beside the passed test.
    assert (counts, status) == ({"passed": 3, "error": 2}, 1)
    assert re.search(r"the test left processes behind: \d+ \(sleep 611\)", output)
    assert re.search(r"the test left processes behind: \d+ \(sleep 612\)", output)
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_shared_server_is_no_leftover_but_a_second_one_is(run_pytest):
    """The fork server that the first test starts may live on; what it starts, or a second one, may not."""
    counts, status, output = run_pytest("""
        import subprocess, sys

        # Ends with this pytest (PR_SET_PDEATHSIG), as the real one does.
        SERVER = "import ctypes, time; ctypes.CDLL(None).prctl(1, 9); name = 'coursekit.ranks.server'; time.sleep(613)"
        FORKING = "import subprocess; name = 'coursekit.ranks.server'; subprocess.run(['sleep', '614'])"

        def test_first():
            subprocess.Popen([sys.executable, "-c", SERVER])

        def test_second():
            subprocess.Popen([sys.executable, "-c", FORKING])
    """)

    assert (counts, status) == ({"passed": 2, "error": 1}, 1)
    message = re.search(r"the test left processes behind: (.*)", output)[1]
    assert "sleep 614" in message
    assert "time.sleep(613)" not in message


def test_process_of_a_session_fixture_fails_the_session(run_pytest):
    """What a fixture of the session starts must be gone when the session ends."""
    _, status, output = run_pytest("""
        import subprocess
        import pytest

        @pytest.fixture(scope="session")
        def server():
            subprocess.Popen(["sleep", "615"])

        def test_it(server):
            pass
    """)

    assert status == 1
    assert re.search(r"the session left processes behind: \d+ \(sleep 615\)", output)
