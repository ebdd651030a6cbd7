"""The book: made by real Sphinx, without answers, with links that hold, and read in a real browser."""

import base64
import html
import io
import json
import re
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

from coursekit.errors import CourseKitError
from coursekit.labs.build.build import source_notebook
from coursekit.labs.build.release import secret_lines
from coursekit.labs.lab import find_labs
from workshop.book.make import make_book
from workshop.book.sources import HTML
from workshop.slides.deck import find_decks
from workshop.slides.marp import chromium

ROOT = Path(__file__).parents[3]
LABS = find_labs(ROOT)
OUTCOME = "the outcome of an answer"
pytestmark = pytest.mark.needs("chromium")


def picture():
    """Return a small PNG in base64."""
    content = io.BytesIO()
    Image.new("RGB", (40, 20), "teal").save(content, "png")
    return base64.b64encode(content.getvalue()).decode()


def write_build(folder):
    """Make what `make slides` and `make run` leave: decks of one line, and labs whose cells have shown something."""
    (folder / "slides").mkdir(parents=True)
    for deck in find_decks(ROOT):
        (folder / "slides" / f"{deck.path.stem}.html").write_text(f"<title>{deck.title}</title>")
        (folder / "slides" / f"{deck.path.stem}.pdf").write_bytes(b"%PDF-1.4")
    for lab in LABS:
        notebook = source_notebook(lab)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                shown = {"image/png": picture(), "text/plain": OUTCOME}
                cell.outputs = [{"output_type": "display_data", "data": shown, "metadata": {}}]
        path = folder / "runs" / "latest" / lab.name / f"{lab.name}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Return a folder like `build/`."""
    folder = tmp_path_factory.mktemp("build")
    write_build(folder)
    return folder


@pytest.fixture(scope="module")
def book(build, tmp_path_factory):
    """Return the students' book."""
    out = tmp_path_factory.mktemp("site") / "book"
    make_book(ROOT, build, out)
    return out


@contextmanager
def served(folder):
    """Serve a folder on the loopback, and yield its address."""

    class Quiet(SimpleHTTPRequestHandler):
        """Says nothing."""

        def log_message(self, *_):
            """Keep silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def text_of(path):
    """Return what a file says, without marks of HTML."""
    text = path.read_text(errors="ignore")
    return html.unescape(re.sub(r"<[^>]*>", "", text)) if path.suffix == ".html" else text


def test_no_answer_and_no_hidden_test_is_in_the_students_book(book):
    """No line of any of them in any page, source or index; pictures are there, other outcomes are not.

    What one lab asks for another may show: such lines stand in the notebooks that students have.
    """
    released = [json.loads((ROOT / "labs" / lab.name / f"{lab.name}.ipynb").read_text()) for lab in LABS]
    shown = "".join("".join(cell["source"]) for notebook in released for cell in notebook["cells"]).replace("`", "")
    secrets = {line for lab in LABS for line in secret_lines(source_notebook(lab)) if line not in shown}
    files = [path for path in book.rglob("*") if path.suffix in {".html", ".ipynb", ".txt", ".js", ".md"}]
    said = {path.relative_to(book).as_posix(): text_of(path) for path in files if HTML not in path.parts}
    found = [(name, line) for name, text in said.items() for line in secrets if line in text]

    assert len(secrets) > 100
    assert found == []
    assert [name for name, text in said.items() if OUTCOME in text] == []
    assert all('src="../../_images/' in (book / f"labs/{lab.name}/{lab.name}.html").read_text() for lab in LABS)


def test_every_page_is_there_and_no_link_is_broken(book):
    """A page for each lab and deck, and no file that a page names is missing."""
    pages = {path.relative_to(book).as_posix() for path in book.rglob("*.html")}

    assert {f"labs/{lab.name}/{lab.name}.html" for lab in LABS} <= pages
    assert {f"slides/{deck.path.stem}.html" for deck in find_decks(ROOT)} <= pages
    broken = [
        f"{page}: {target}"
        for page in pages
        for target in re.findall(r' (?:href|src)="([^":#?]+)["#?]', (book / page).read_text())
        if not (book / page).parent.joinpath(unquote(target)).exists()
    ]
    assert broken == []


def test_the_first_page_leads_everybody_on_and_shows_every_lab(book):
    """Students, instructors and centres find their page; each lab has its picture beside those of step and path."""
    shown = (book / "index.html").read_text().partition("<article")[2].partition("</article>")[0]
    pages = [f"docs/{name}.html" for name in ("student", "teach", "sites", "commands", "troubleshooting")]
    pages += [f"labs/{lab.name}/{lab.name}.html" for lab in LABS]

    assert [page for page in pages if f'href="{page}"' not in shown] == []
    assert len(re.findall(r'<img [^>]*src="_images/', shown)) == len(LABS) + 2


def test_a_reader_searches_turns_pages_and_reads_on_a_phone(book):
    """In Chromium, from a plain web server: formulas are set, nothing is asked of the network, nothing overflows."""
    asked = []
    with served(book) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}/search.html?q=allreduce")
        page.wait_for_selector("#search-results li a")
        page.goto(f"{address}/labs/06-between-ranks/06-between-ranks.html")
        page.wait_for_selector("mjx-container svg")
        page.locator("a.next-page").click()
        page.wait_for_url("**/07-predict-then-book.html")
        frame = page.goto(f"{address}/slides/03-allreduce.html") and page.locator("iframe")
        frame.wait_for()
        page.locator("a[target=deck]").nth(2).click()
        page.wait_for_function("document.querySelector('iframe').contentWindow.location.hash === '#3'")
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 400, "height": 800})
        widths = {}
        for lab in LABS:
            page.goto(f"{address}/labs/{lab.name}/{lab.name}.html")
            widths[lab.name] = page.evaluate("document.documentElement.scrollWidth")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        browser.close()

    assert widths == dict.fromkeys(widths, 400)
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) < 150
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


def test_what_is_missing_is_said(tmp_path):
    """Without decks one sentence names the command."""
    with pytest.raises(CourseKitError, match=r"01-gradient-descent.*book.no-decks"):
        make_book(ROOT, tmp_path, tmp_path / "book")
