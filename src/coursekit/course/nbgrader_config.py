"""Build nbgrader's configuration for a course; nbgrader's commands load it through `course/nbgrader_config.py`."""

import os
import sysconfig
from pathlib import Path

from nbconvert.preprocessors.sanitize import ALLOWED_TAGS  # type: ignore[attr-defined]  # its own default, from bleach
from traitlets.config import Config

from coursekit.course.settings import load_settings
from coursekit.labs.build.regions import CODE_STUB, TEXT_STUB
from coursekit.labs.points import nbgrader_settings

CONFIG = "nbgrader_config.py"
GRADEBOOK = "gradebook.db"
EXCHANGE = "exchange"
PREPROCESSORS = "coursekit.course.preprocessors"

TEMPLATE = '''\
"""nbgrader's own commands read this file; the name and the due dates are in course.toml."""

from pathlib import Path

from coursekit.course.nbgrader_config import course_config

c = get_config()  # noqa: F821 - traitlets puts it here
c.merge(course_config(Path(__file__).parent, root=Path({root!r})))

# Add your own settings here. For example, if hand-ins do not come from the students' own accounts:
# c.ExchangeCollect.check_owner = False
# To keep grades on a server: `pip install 'coursekit[postgresql]'`, add this line, and `coursekit course init` again:
# c.CourseDirectory.db_url = "postgresql+psycopg://user@host/database"
'''

STUDENT_TEMPLATE = '''\
"""For students: put this into ~/.jupyter/ or, for all accounts, /etc/jupyter/; then `nbgrader list` shows the labs."""

c = get_config()  # noqa: F821 - traitlets puts it here
c.CourseDirectory.course_id = {name!r}
c.Exchange.root = {exchange!r}

# Validate: training takes longer than nbgrader's 30 s, output may come late, and TensorFlow's log on stderr is not an
# error.
{validate}
'''


def student_config(name: str, exchange: Path) -> str:
    """Return the text of the configuration file for students' servers; it needs nbgrader, but not the kit."""
    settings = nbgrader_settings()
    validate = "\n".join(
        f"c.{part}.{name} = {value!r}"
        for part in ("Execute", "IgnorePattern")
        for name, value in settings[part].items()
    )
    return STUDENT_TEMPLATE.format(name=name, exchange=str(exchange), validate=validate)


def course_config(folder: Path, root: Path) -> Config:
    """Return the configuration of the course in `folder`.

    `root` is the course checkout, relative to `folder` or absolute; nbgrader releases the labs in the checkout's
    `build/source`.

    Raises:
        CourseKitError: `course.toml` is wrong.
    """
    put_scripts_on_path()
    folder = folder.resolve()
    settings = load_settings(folder)
    config = nbgrader_settings()

    config.CourseDirectory.root = str(folder)
    config.CourseDirectory.course_id = settings.name
    config.CourseDirectory.db_url = f"sqlite:///{folder / GRADEBOOK}"
    # nbgrader turns this path into a regular expression, but escapes only the part that is the course folder.
    config.CourseDirectory.source_directory = os.path.relpath((folder / root).resolve() / "build" / "source", folder)
    config.Exchange.root = str(folder / EXCHANGE)

    # Use the same stubs as labs/, and release a script with stubs instead of the solution's script.
    config.ClearSolutions.code_stub = {"python": CODE_STUB}
    config.ClearSolutions.text_stub = TEXT_STUB
    config.GenerateAssignment.preprocessors.append(f"{PREPROCESSORS}.ScriptWithStubs")  # after nbgrader's own

    # Code in a student's text cell must never run in the grader's browser, whether in formgrader or in a page.
    config.SanitizeHTML.enabled = True
    config.SanitizeHTML.tags = sorted({*ALLOWED_TAGS, "details", "summary"})  # the labs' folded hints use these
    config.HTMLExporter.preprocessors = [f"{PREPROCESSORS}.SafeLinks", "nbconvert.preprocessors.sanitize.SanitizeHTML"]
    config.GenerateFeedback.preprocessors = [
        f"{PREPROCESSORS}.ShowToStudents",
        "nbgrader.preprocessors.GetGrades",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    return config


def put_scripts_on_path() -> None:
    """Add this environment's folder of programs to PATH, because nbgrader starts `alembic` by its bare name."""
    scripts = sysconfig.get_path("scripts")
    path = os.environ.get("PATH", os.defpath)
    if scripts not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([scripts, path])
