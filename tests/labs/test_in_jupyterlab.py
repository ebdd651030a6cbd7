"""The released labs in a real JupyterLab, in a real browser, as a student meets them."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POLL_MS = 1000  # by default a page is asked with every frame that it draws, and the ranks want the processor
ANSWER = """def rank_facts():
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}"""

pytestmark = [pytest.mark.needs("chromium")]


@pytest.fixture
def page(tmp_path, open_jupyterlab, open_browser):
    """Open lab 02 of a copy of labs/ in headless Chromium, and wait for its kernel."""
    shutil.copytree(ROOT / "labs", tmp_path / "labs")
    with open_jupyterlab(tmp_path / "labs", tmp_path) as (address, token), open_browser() as browser:
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        page.set_default_timeout(300_000)
        page.goto(f"{address}/lab/tree/02-horovod-sgd/02-horovod-sgd.ipynb?token={token}")
        page.wait_for_selector(".jp-RenderedMarkdown h1:has-text('Lab 02: SGD on several ranks')")
        page.wait_for_selector(".jp-NotebookPanel-toolbar [data-status=idle]")
        yield page


def cell(page, text):
    """Return the first code cell whose source contains this text."""
    return page.locator(".jp-CodeCell", has_text=text).first


def run_cell(page, text):
    """Run one cell as a student does, with Shift+Enter, and return what it shows when it is done."""
    chosen = cell(page, text)
    chosen.scroll_into_view_if_needed()
    chosen.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(
        "element => /\\[\\d+\\]/.test(element.querySelector('.jp-InputPrompt').innerText)",
        arg=chosen.element_handle(),
        polling=POLL_MS,
        timeout=600_000,
    )
    return chosen.locator(".jp-OutputArea").inner_text() if chosen.locator(".jp-OutputArea-child").count() else ""


def test_student_works_through_the_start_of_lab_02(page):
    """A student runs the first cells, sees the check name what is missing, answers, sees it pass and unfolds a hint."""
    run_cell(page, "num_ranks = 2")
    run_cell(page, "ranks.warm_up()")
    hello = run_cell(page, "def hello():")

    assert "[0] hello from process" in hello
    assert "[1] hello from process" in hello

    run_cell(page, "def rank_facts():")
    unanswered = run_cell(page, 'check("rank facts"')

    assert "rank facts: not answered yet (rank_facts) [answer.empty] → section 1" in unanswered

    cell(page, "def rank_facts():").locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(ANSWER)
    run_cell(page, "def rank_facts():")
    answered = run_cell(page, 'check("rank facts"')

    assert answered.strip() == "✓ rank facts"

    hint = page.locator("details", has_text="set_visible_devices").first
    hint.scroll_into_view_if_needed()

    assert not hint.locator("p").first.is_visible()

    hint.locator("summary").click()

    assert hint.locator("p").first.is_visible()


def test_run_all_goes_on_past_failed_checks_to_the_report(page):
    """A student who has answered nothing chooses Run All Cells: every check says so, and the report lists them all."""
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_selector("text=0 of 17 checks passed.", timeout=600_000)

    report = cell(page, "hand_in_report({").locator(".jp-OutputArea").inner_text()
    assert report.splitlines()[0] == "✗ rank facts (1 point): not answered yet (rank_facts) [answer.empty]"
    assert "not run" not in report
    assert "That is 0 of 20 points" in report
