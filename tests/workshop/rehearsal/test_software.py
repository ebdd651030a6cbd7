"""The site's modules, and the options that it adds to `srun`, are there; others are not."""

import os
import sys
from pathlib import Path

import pytest

PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "munged", "mariadb-install-db", "unshare", "gcc")
pytestmark = pytest.mark.needs(*PROGRAMS)

SCRIPT = """\
module purge
module load {module} || {{ echo "no module"; exit 1; }}
echo "$COURSEKIT_REHEARSED_MODULES"
which python
"""


@pytest.mark.parametrize("module", ["water", "Horovod/0.28.1-salt", "pressure/2"])
def test_a_login_shell_loads_the_profiles_modules(slurm, module):
    """A job with a login shell finds `module`; a module puts the Python that rehearses on the PATH."""
    said = _login_shell(slurm, SCRIPT.format(module=module))
    assert (said.returncode, said.stdout.split()) == (0, [module, str(Path(sys.executable).parent / "python")])


@pytest.mark.parametrize("module", ["Horovod/0.28.2", "air"])
def test_other_modules_are_unknown(slurm, module):
    """A module that the profile does not name cannot be loaded."""
    said = _login_shell(slurm, SCRIPT.format(module=module))
    assert (said.returncode, said.stdout.strip()) == (1, "no module")
    assert f'The following module(s) are unknown:\n"{module}"' in said.stderr


def test_the_sites_option_asks_for_a_description(slurm, tmp_path):
    """`--environment=NAME` is taken where a folder of EDF_PATH or ~/.edf holds NAME.toml, else refused."""
    (tmp_path / "edf").mkdir()
    words = ("srun", "--nodes=2", "--environment=coursekit", "hostname")
    refused = slurm(*words, EDF_PATH=f"{tmp_path}:{tmp_path}/edf", HOME=str(tmp_path))
    (tmp_path / "edf" / "coursekit.toml").touch()
    taken = slurm(*words, EDF_PATH=f"{tmp_path}:{tmp_path}/edf", HOME=str(tmp_path))
    (tmp_path / "edf").rename(tmp_path / ".edf")
    at_home = slurm(*words, HOME=str(tmp_path))
    assert refused.stderr.splitlines() == [
        "srun: error: cannot find environment coursekit: no coursekit.toml in EDF_PATH or ~/.edf",
        "srun: error: Invalid --environment argument: coursekit",
    ]
    assert sorted(taken.stdout.split()) == sorted(at_home.stdout.split()) == ["deep-1", "deep-2"]


def _login_shell(slurm, text):
    return slurm("srun", "--nodes=1", "bash", "-l", "-c", text, HOME=os.environ["HOME"], PATH="/usr/bin:/bin")
