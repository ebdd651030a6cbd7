"""The rules in conftest.py, on small test files in a pytest of their own."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

RULES = ("conftest.py", "quick.py", "side_by_side.py")
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # to load plugins takes a third of a run


@pytest.fixture
def run_pytest(tmp_path):
    """Return a function that runs a test file under our rules and returns the counts of outcomes and all output."""

    def run(source, **extra):
        folder = tmp_path / "tests"
        folder.mkdir()
        for name in RULES:
            rule = Path(__file__).with_name(name).read_text()
            (folder / name).write_text(rule.replace("GRACE_S = 120", "GRACE_S = 0.5"))
        (folder / "test_it.py").write_text(textwrap.dedent(source))
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib --strict-markers -ra\n")
        environ = {name: value for name, value in os.environ.items() if name != "CI" and "XDIST" not in name}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests"]
        environ |= {**ALONE, **extra}
        done = subprocess.run(command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True, check=False)
        counts = re.findall(r"(\d+) (passed|failed|skipped|xfailed|error)", done.stdout.splitlines()[-1])
        return {outcome: int(count) for count, outcome in counts}, done.stdout

    return run


def test_skip_fails_in_ci(run_pytest, tmp_path):
    """A test whose program is missing fails in CI, and names it; an expected failure stays one."""
    source = """
        import pytest

        @pytest.mark.needs("no-such-program")
        def test_it():
            pass

        @pytest.mark.xfail
        def test_expected_failure():
            assert False
    """
    counts, output = run_pytest(source, PATH=str(tmp_path), CI="true")

    assert counts == {"error": 1, "xfailed": 1}
    assert "no-such-program" in output


def test_process_left_behind_fails_its_test_alone(run_pytest, tmp_path):
    """A test that leaves a daemon fails and names it; it is ended, and the next test is not blamed."""
    source = f"""
        import subprocess
        from pathlib import Path

        def test_daemon():
            subprocess.run(["sh", "-c", "setsid sleep 612 > /dev/null 2>&1 & echo $! > {tmp_path}/pid"], check=True)
            while not Path("/proc", Path("{tmp_path}/pid").read_text().strip(), "comm").read_text() == "sleep\\n":
                pass  # it is still the shell, or setsid

        def test_clean():
            subprocess.run(["sleep", "0.1"], check=True)
    """
    counts, output = run_pytest(source)

    # The failure is the fixture's: pytest counts it as an error beside the passed test.
    assert counts == {"passed": 2, "error": 1}
    assert re.search(r"\d+ \(sleep 612\)", output)
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()
