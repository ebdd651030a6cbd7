"""nbgrader preprocessors that release a lab's script, remove what students must not see, and disarm links."""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked, is_solution

from coursekit.labs.build.regions import MARKER_WORDS, RegionError, outside_regions
from coursekit.labs.build.script import script_files

SHOWN_TYPES = ("text/plain", "image/png")
NOT_SHOWN = "# This cell cannot be shown."
# Targets of Markdown's links and references; a browser decodes entities, escapes and tabs in a scheme.
LINK = re.compile(r"(\]\(|\]:)(\s*)(<[^>\n]*>|[^\s)]*)")
UNSAFE = re.compile(r"[:&\\\x00-\x20]")
WEB = re.compile(r"<?(https?|mailto):[^\x00-\x20]*")
# The target of a picture that was pasted into a cell: JupyterLab attaches the picture; Colab writes it into the link.
ATTACHED = "attachment:"
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+")


class ScriptWithStubs(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Releases a lab's script with stubs instead of the solution's script, which nbgrader copies with the source."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Add the script with stubs to the files to write; it overwrites nbgrader's copy of the solution's script."""
        scripts = script_files(nb, "release") if "coursekit" in nb.metadata else {}
        resources["outputs"] = {**(resources.get("outputs") or {}), **scripts}
        return nb, resources


class ShowToStudents(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Removes from a graded notebook all hidden tests, and all outputs that could act as web pages."""

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        """Return the notebook without hidden tests and with plain outputs."""
        nb.metadata.pop("widgets", None)
        nb.cells = [cell for cell in nb.cells if cell.cell_type in ("code", "markdown")]
        for cell in nb.cells:
            if not is_solution(cell):  # all attachments of an answer are pictures, see `Pictures`
                cell.pop("attachments", None)
            is_test = is_grade(cell) and not is_solution(cell)
            if is_test or is_locked(cell):
                cell.source = without_hidden_tests(cell.source)
            if cell.cell_type == "code":
                cell.outputs = [plain for output in cell.outputs for plain in _plain(output, only_error=is_test)]
        return nb, resources


class SafeLinks(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Removes students' links, except to web pages and nearby files; others could run scripts in a grader's browser."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: ResourcesDict, _index: int
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Replace unsafe links in the text cells that students may edit."""
        if cell.cell_type == "markdown" and not is_locked(cell):
            pictures = cell.get("attachments", {})
            cell.source = LINK.sub(lambda link: f"{link[1]}{link[2]}{_safe(link[3], pictures)}", cell.source)
        return cell, resources


def _safe(target: str, pictures: Mapping[str, Mapping[str, str]]) -> str:
    """Return a safe target for a link: the target itself, the data of the attached picture that it names, or "#".

    "#" leads to the top of the page. A picture is replaced by its data because nbconvert produces no page at all if a
    picture that the text names is missing.
    """
    picture = pictures.get(unquote(target.removeprefix(ATTACHED))) if target.startswith(ATTACHED) else None
    for kind, content in (picture or {}).items():
        target = f"data:{kind};base64,{''.join(content.split())}"
    safe = WEB.fullmatch(target) or PICTURE.fullmatch(target) or not UNSAFE.search(target)
    return target if safe else "#"


def without_hidden_tests(source: str) -> str:
    """Return the source of a locked cell without hidden tests; if its markers are broken, return only a comment."""
    if not any(word in source for word in MARKER_WORDS):
        return source
    try:
        return "\n".join(outside_regions(source)).rstrip()
    except RegionError:
        return NOT_SHOWN


def _plain(output: NotebookNode, *, only_error: bool) -> list[NotebookNode]:
    """Return the part of an output that is safe to show, as a list with one output, or [] if there is none.

    Text and images are kept. An error is reduced to its message, because the frames of the traceback show the test.
    With `only_error`, everything but errors is dropped.
    """
    if output.output_type == "error":
        line = f"{output.ename}: {output.evalue}".removesuffix(": ")
        return [new_output("error", ename=output.ename, evalue=output.evalue, traceback=[line])]
    if only_error:
        return []
    if output.output_type == "stream":
        return [output]
    data = {kind: value for kind, value in output.data.items() if kind in SHOWN_TYPES}
    return [new_output("display_data", data=data)] if data else []
