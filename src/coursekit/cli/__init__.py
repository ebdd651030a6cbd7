"""The `coursekit` command; each verb is a module with the same name in this package, imported only when needed."""

import errno
import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

sys.path.insert(0, sysconfig.get_path("purelib"))  # so that the kit can report it if PYTHONPATH leads to another click
import click

sys.path.pop(0)

from coursekit import STAMP, __version__
from coursekit.errors import Cause, CourseKitError

# The verbs, grouped by user, each with its line in `coursekit --help`.
GROUPS = {
    "For students": {
        "execute": "execute your notebook for a lab, and keep the result",
        "submit": "submit a lab as a Slurm job",
        "jobs": "list your jobs, and explain why a job is waiting or has failed",
        "predict": "predict how fast training runs on more nodes",
        "script": "turn your notebook for a lab into a training script",
        "hand-in": "pack your notebook into one file to send to your instructor",
    },
    "For instructors": {
        "course": "create a course, release labs, give feedback, export points",
        "students-copy": "write the folder that you publish for students",
        "take": "import hand-ins that came by e-mail or through Moodle",
        "grade": "grade hand-ins in a sandbox, and write a report",
        "hub": "start a demo JupyterHub on this machine",
    },
    "For authors": {
        "build": "build the students' notebooks and the job scripts",
        "run": "execute the solutions of the labs, and report the results",
    },
    "About the machine": {
        "doctor": "check whether this machine has everything that the labs need",
        "data": "generate or check data in ImageNet's format",
        "kernel": "install a Jupyter kernel for a centre's own JupyterHub",
        "sites": "list the machines that have job scripts, or show one of them",
    },
}


class LazyGroup(click.Group):
    """A group that imports a verb's module only when the verb is called, so that `--help` answers at once.

    Each verb is a module with the same name in `package`; `groups` lists the verbs by user, each with its line for
    `--help`. If a verb's module is missing, the verb is left out, because a students' copy has only some of the verbs.
    """

    def __init__(self, package: str, groups: Mapping[str, Mapping[str, str]], **settings: Any) -> None:
        super().__init__(**settings)
        self._package = package
        there = {module.name for module in iter_modules(import_module(package).__path__)}
        self._groups = {
            user: {name: line for name, line in verbs.items() if name.replace("-", "_") in there}
            for user, verbs in groups.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the verbs, in the order of their groups."""
        del ctx
        return [name for verbs in self._groups.values() for name in verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of a verb, or return None if the verb is unknown."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = cmd_name.replace("-", "_")
        try:
            command: click.Command = getattr(import_module(f"{self._package}.{name}"), name)
        except Exception as error:  # importing a different NumPy can raise anything
            if fault := _shadowed():
                raise CourseKitError(f"{fault} ({error}).", "packages.hidden") from None
            raise
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line for each verb, grouped by user."""
        width = max(map(len, self.list_commands(ctx)))
        for user, verbs in self._groups.items():
            if verbs:
                with formatter.section(user):
                    formatter.write_dl([(f"{name:{width}}", line) for name, line in verbs.items()])


@click.group(cls=LazyGroup, package="coursekit.cli", groups=GROUPS)
@click.version_option(__version__, prog_name="coursekit")
@click.option("-v", "--verbose", is_flag=True, help="Log to stderr which programs are called and how they end.")
def cli(verbose: bool) -> None:
    """Build, run, check and grade the labs of the course."""
    if verbose:
        from coursekit.log import log_to_stderr  # not at the top, because `coursekit --help` loads nothing

        log_to_stderr()


def _shadowed() -> str:
    """Return a sentence that says what hides the packages of this environment, or '' if nothing does."""
    if "PYTHONPATH" not in os.environ and not site.ENABLE_USER_SITE:
        return ""
    from coursekit.paths import shadowed  # not at the top, because `coursekit --help` loads nothing

    return shadowed()


def main() -> None:
    """Run the program `coursekit`."""
    run_program(cli, "coursekit")


def run_program(command: click.Group, program: str) -> None:
    """Run a command; if the user made a mistake and can fix it, print one sentence and exit with status 1."""
    if "doctor" not in sys.argv[1:3] and Path(sys.prefix, STAMP).exists() and _shadowed():
        os.environ.pop("PYTHONPATH", "")  # as `make` does; but the doctor checks what notebooks get
        os.environ["PYTHONNOUSERSITE"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # this program again
    try:
        command(prog_name=program, standalone_mode=True)
    except CourseKitError as error:
        click.echo(f"{program}: {error}", err=True)
        sys.exit(1)
    except Exception as error:
        words = _refusal(error)
        if not words:
            raise
        click.echo(f"{program}: {words}", err=True)
        sys.exit(1)


def _refusal(error: Exception) -> str:
    """Return a sentence that says what the system refused, and what to do; '' if the error is in the kit itself."""
    if isinstance(error, shutil.Error):  # from copytree: a list of source, destination and reason
        _, file, why = error.args[0][-1]
        return f"{file} cannot be written: {why}. [file.not-copied]"
    if isinstance(error, OSError):
        causes = {
            errno.ENOSPC: Cause("remove files there, or use another disk", "disk.full"),
            errno.EDQUOT: Cause("your quota is used up: remove files there, or use another disk", "disk.quota"),
            errno.EROFS: Cause("it is read-only: use another folder", "disk.read-only"),
            errno.ENAMETOOLONG: Cause("use a shorter name", "file.long-name"),
        }
        other = Cause("check that it exists, and that you may read and write it", "file.refused")
        if error.filename is None and error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EROFS}:
            return ""
        named = error.filename2 or error.filename  # if a file is being copied, `filename2` is the copy
        file = f"{os.fsdecode(named)}: " if isinstance(named, (str, bytes, os.PathLike)) else ""
        what = (error.strerror or str(error)).lower()
        advice, code = causes.get(error.errno or 0, other)
        return f"{file}{what}: {advice}. [{code}]"
    if isinstance(error, KeyError) and "uid not found" in str(error):
        who = f"account number {os.getuid()}"
        return f"{who} has no name on this machine: set LOGNAME to a name, and also set HOME. [account.no-name]"
    if isinstance(error, RuntimeError) and "home directory" in str(error):
        return "this account has no home folder: set HOME to a folder that you may write to. [account.no-home]"
    # Incompatible packages raise these errors.
    fault = _shadowed() if isinstance(error, (ImportError, AttributeError, TypeError)) else ""
    return f"{fault} ({error}). [packages.hidden]" if fault else ""
