"""What a student and an instructor do in the hub's pages, in a real browser."""

import nbformat

from coursekit.labs.build.regions import without_markers

from .conftest import SHOTS

LIST = "#nbgrader-assignment-list"
TIMEOUT_MS = 600_000
CLOSED_MS = 300
DRAWN_MS = 1500  # until a page that was scrolled is drawn; only a picture depends on it
RUN_TIMEOUT_MS = 900_000
POLL_MS = 1000  # by default a page is asked with every frame that it draws, and the ranks want the processor


class Visitor:
    """Somebody with a browser window of their own.

    Args:
        browser: Playwright's browser.
        address: the hub's.
        name: the account.
    """

    def __init__(self, browser, address, name):
        self.context = browser.new_context(viewport={"width": 1300, "height": 900})
        self.page = self.context.new_page()
        self.page.set_default_timeout(TIMEOUT_MS)
        self.address, self.name = address, name

    def log_in(self, token):
        """Log in and come to one's own JupyterLab."""
        self.page.goto(self.address)
        self.page.fill("#username_input", self.name)
        self.page.fill("#password_input", token)
        self.shot("login")
        self.page.click("#login_submit")
        self.page.wait_for_selector("#jp-main-dock-panel")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def menu(self, entry):
        """Choose an entry of nbgrader's menu."""
        self.page.get_by_role("menuitem", name="Nbgrader").click()
        self.page.get_by_text(entry, exact=True).click()

    def shot(self, name):
        """Keep a picture of the page for people to look at."""
        self.page.screenshot(path=SHOTS / "hub" / f"{self.name}-{name}.png")


class Student(Visitor):
    """Fetches, answers, validates, hands in, and reads what comes back."""

    def open_list(self):
        """Open the list of assignments, as it is now."""
        if not self.page.locator(LIST).count():
            self.menu("Assignment List")
        else:
            self.page.get_by_role("tab", name="Assignments").click()
            self.page.locator(f"{LIST} #refresh_assignments_list").click()

    def row(self, part, lab):
        """Return a lab's row in one of the three parts of the list: released, fetched or submitted."""
        return self.page.locator(f"{LIST} #{part}_assignments_list > .list_item", has_text=lab).first

    def fetch(self, lab):
        """Fetch a lab and open its notebook."""
        self.open_list()
        self.row("released", lab).get_by_role("button", name="Fetch").click()
        self.row("fetched", lab).wait_for()
        self.shot("fetched")
        self.open_notebook(lab)

    def open_notebook(self, lab):
        """Open a lab that was fetched."""
        self.page.goto(f"{self.address}/user/{self.name}/lab/tree/{lab}/{lab}.ipynb")
        self.page.wait_for_selector(".jp-NotebookPanel-toolbar [data-status=idle]")

    def answer(self, cells, stubs):
        """Write answers over their stubs, or over what stands there.

        Args:
            cells: name of the cell to the answer.
            stubs: name of the cell to a text that only this cell has.
        """
        for name, source in cells.items():
            chosen = self.page.locator(".jp-CodeCell", has_text=stubs[name]).first
            chosen.scroll_into_view_if_needed()
            chosen.locator(".cm-content").click()
            self.page.keyboard.press("Control+A")
            self.page.keyboard.insert_text(source)

    def start_all(self):
        """Run all cells; what they show comes later."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_text("Run All Cells", exact=True).click()

    def wait_until_run(self):
        """Wait until the last code cell was run."""
        last = self.page.locator(".jp-CodeCell").last
        self.page.wait_for_function(
            "element => /\\[\\d+\\]/.test(element.querySelector('.jp-InputPrompt').innerText)",
            arg=last.element_handle(),
            polling=POLL_MS,
            timeout=RUN_TIMEOUT_MS,
        )

    def save(self):
        """Save the notebook."""
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Control+S")
        self.page.wait_for_selector(".lm-TabBar-tab.jp-mod-dirty", state="detached")

    def validate(self):
        """Press Validate and return what the dialog says."""
        self.page.get_by_role("button", name="Validate").click()
        dialog = self.page.locator(".jp-Dialog-content")
        dialog.wait_for(timeout=RUN_TIMEOUT_MS)
        return dialog.inner_text()

    def close_dialog(self):
        """Close the dialog that is open, and any behind it."""
        dialog = self.page.locator(".jp-Dialog")
        while dialog.count():
            dialog.last.locator(".jp-Dialog-button").last.click()
            self.page.wait_for_timeout(CLOSED_MS)

    def submit(self, lab):
        """Hand a lab in and return when the list says so."""
        self.open_list()
        self.row("fetched", lab).get_by_role("button", name="Submit").click()
        self.row("submitted", lab).wait_for()

    def feedback(self, lab):
        """Fetch the feedback for a lab, open its page, and return what it says."""
        self.open_list()
        self.row("submitted", lab).get_by_role("button", name="Fetch Feedback").click()
        self.page.get_by_text("(view feedback)").first.click()
        self.page.locator(".jp-DirListing-item", has_text=f"{lab}.html").dblclick()
        text = self.page.frame_locator(".jp-HTMLViewer iframe").locator("body")
        text.get_by_text("Score:").first.wait_for()
        self.shot("feedback")
        return text.inner_text()


def answers_and_stubs(source, released):
    """Return a lab's right answers, and for each a line of its stub that no other cell has.

    Args:
        source: path of the source notebook.
        released: path of the released one.
    """
    solved = {cell.metadata.nbgrader.grade_id: cell for cell in _answer_cells(source)}
    stubs = {cell.metadata.nbgrader.grade_id: cell.source.splitlines()[0] for cell in _answer_cells(released)}
    lines = {name: without_markers(cell.source) for name, cell in solved.items()}
    return lines, stubs


def _answer_cells(path):
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")]


class Instructor(Visitor):
    """Collects, grades and gives feedback in formgrader."""

    def open_course(self, course):
        """Go from the course list to formgrader, which opens in a window of its own; return its address."""
        self.menu("Course List")
        link = self.page.locator("#nbgrader-course-list").get_by_text(course, exact=True)
        link.wait_for()
        self.shot("course-list")
        with self.context.expect_page() as opened:
            link.click()
        self.page = opened.value
        self.page.set_default_timeout(TIMEOUT_MS)
        frame = self.page.frame_locator("iframe")
        frame.get_by_role("link", name="Manage Students").wait_for()
        self.formgrader = f"{self.address}/services/{course}/formgrader"

    def collect(self, lab):
        """Collect what was handed in, and return what the page says."""
        self.page.goto(f"{self.formgrader}/manage_assignments")
        self._row(lab).wait_for()
        self.shot("assignments")
        return self._press(self._row(lab).locator(".collect a"))

    def autograde(self, lab, student):
        """Grade one student's hand-in, and return what the page says."""
        self.page.goto(f"{self.formgrader}/manage_submissions/{lab}")
        return self._press(self._row(student).locator(".autograde a"))

    def submissions(self, lab):
        """Return the table of hand-ins: by student's id, status and score."""
        self.page.goto(f"{self.formgrader}/manage_submissions/{lab}")
        self.page.locator("tbody .autograde").first.wait_for()
        self.shot("submissions")
        rows = [row.locator("td").all_inner_texts() for row in self.page.locator("tbody tr").all()]
        return {row[1]: (row[3], row[4]) for row in rows}

    def release_feedback(self, lab):
        """Give feedback to everybody, and return what the page says."""
        self.page.goto(f"{self.formgrader}/manage_assignments")
        return self._press(self._row(lab).locator(".release-feedback a"))

    def look_at(self, lab, score, check):
        """Look at the hand-in with this score in formgrader, as for grading by hand, where this check is."""
        self.page.goto(f"{self.formgrader}/gradebook/{lab}/{lab}")
        self._row(score).locator("a").first.click()
        self.page.wait_for_selector(".nbgrader_cell")
        self.page.get_by_text(check).first.scroll_into_view_if_needed()
        self.page.mouse.wheel(0, 300)  # what it said stands below
        self.page.wait_for_timeout(DRAWN_MS)
        self.shot("formgrader")

    def _row(self, text):
        return self.page.locator("tbody tr", has_text=text)

    def _press(self, button):
        button.click()
        dialog = self.page.locator(".modal.in")
        dialog.wait_for(timeout=RUN_TIMEOUT_MS)
        said = dialog.inner_text()
        self.shot("said")
        dialog.get_by_role("button", name="OK").click()
        self.page.wait_for_selector(".modal", state="detached")
        return said
