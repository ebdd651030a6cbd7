"""The labs for those who listen to them, enlarge them or read them on a dark page: in a real browser, and as text."""

import asyncio
import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import load_lab

ROOT = Path(__file__).parents[2]
LABS = sorted(path.name for path in (ROOT / "solutions").glob("[0-9]*"))
EXECUTED = LABS[:2]  # the others train for minutes, with the same functions for their pictures
SKIPPED = re.compile(r"^with check\(|_trial = |^def (deadlock|hello)|^%%?ranks|^for facts")  # none draws a picture
NUM_PIXELS_AT_200_PERCENT = 640  # of a screen with 1280
MIN_NUM_LETTERS = 40  # fewer do not say what there is to see
WHOLE_NOTEBOOK = {"windowingMode": "none"}  # else JupyterLab draws only the cells in sight

# What needs scrolling sideways, other than code cells; formulas hold invisible text of their own.
TOO_WIDE = """() => {
  document.querySelectorAll('details').forEach(one => one.open = true);
  const right = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect().right;
  const shown = [...document.querySelectorAll('.jp-RenderedMarkdown, .jp-RenderedMarkdown *, .jp-OutputArea *')];
  return shown.filter(one => one.clientWidth && !one.tagName.startsWith('MJX'))
    .filter(one => getComputedStyle(one).overflowX != 'visible' && one.scrollWidth > one.clientWidth + 1
      || one.getBoundingClientRect().right > right)
    .map(one => `${one.tagName}: ${(one.innerText || one.alt || '').slice(0, 80)}`);
}"""
# Texts and outputs that stand out from their ground by less than WCAG 2.2 asks for, and the ground of every picture.
COLORS = """() => {
  const rgb = text => { const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a ?? 1]; };
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = one => { const color = rgb(getComputedStyle(one).backgroundColor);
    return color[3] == 1 ? color : ground(one.parentElement); };
  const contrast = one => { const both = [rgb(getComputedStyle(one).color), ground(one)].map(luminance);
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05); };
  const texts = document.querySelectorAll(['p', 'li', 'h1', 'h2', 'h3', 'summary', 'a:not(.jp-InternalAnchorLink)',
    'code', 'td', 'th'].map(tag => `.jp-RenderedMarkdown ${tag}`).join() + ', .jp-OutputArea pre');
  return {
    dark: luminance(ground(document.querySelector('.jp-RenderedMarkdown p'))) < 0.1,
    faint: [...texts].filter(one => contrast(one) < 4.5)
      .map(one => `${one.tagName} ${contrast(one).toFixed(2)}: ${one.innerText.slice(0, 50)}`),
    pictures: [...new Set([...document.querySelectorAll('.jp-OutputArea img')].map(one => ground(one).join()))],
  };
}"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with labs 01 and 02, solved and executed as far as they draw, and 03 and 04 as released."""
    root = tmp_path / "course"
    for lab in EXECUTED:
        shutil.copytree(ROOT / "solutions" / lab, root / "solutions" / lab)
    sources = build_sources(root, [load_lab(root / "solutions" / lab) for lab in EXECUTED])
    notebooks = {lab: nbformat.read(sources[lab], as_version=4) for lab in EXECUTED}
    asyncio.run(execute(notebooks.values(), root))
    (root / "labs").mkdir()
    for lab, notebook in notebooks.items():
        nbformat.write(notebook, root / "labs" / f"{lab}.ipynb")
    for lab in set(LABS) - set(EXECUTED):
        shutil.copy(ROOT / "labs" / lab / f"{lab}.ipynb", root / "labs")
    return root / "labs"


async def execute(notebooks, folder):
    """Execute all at once what leads to the pictures."""
    for notebook in notebooks:
        notebook.cells = [cell for cell in notebook.cells if not SKIPPED.search(cell.source)]
    limits = dict.fromkeys(("timeout", "startup_timeout", "iopub_timeout"), 900)
    clients = [NotebookClient(one, **limits, resources={"metadata": {"path": str(folder)}}) for one in notebooks]
    await asyncio.gather(*(client.async_execute() for client in clients))


@pytest.fixture
def page(folder, tmp_path, open_jupyterlab, open_browser):
    """Return a function that opens a lab in a page of 640 pixels, as an enlarged one has."""
    settings = tmp_path / "jupyter_config_dir" / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps(WHOLE_NOTEBOOK), encoding="utf-8")
    served = open_jupyterlab(folder, tmp_path, "--LabApp.expose_app_in_browser=True")
    with served as (address, token), open_browser() as browser:
        page = browser.new_page(viewport={"width": NUM_PIXELS_AT_200_PERCENT, "height": 900})
        page.set_default_timeout(300_000)

        def open_lab(lab):
            page.goto(f"{address}/doc/tree/{lab}.ipynb?token={token}")
            page.wait_for_selector("h2:has-text('Before you hand in')", state="attached")
            page.wait_for_function("[...document.images].every(image => image.complete)")
            return page

        yield open_lab


@pytest.mark.needs("chromium")
def test_labs_in_the_browser(folder, page):
    """A screen reader gets words for all pictures; at 200 % only code scrolls sideways; both themes keep contrast."""
    found = {lab: observe(page(lab)) for lab in LABS}
    written = {lab: alternatives(folder / f"{lab}.ipynb") for lab in LABS}

    assert [len(written[lab]) for lab in EXECUTED] == [7, 10]
    assert {lab: [name for name in one["names"] if len(name) < MIN_NUM_LETTERS] for lab, one in found.items()} == none()
    assert {lab: joined(one["names"]) for lab, one in found.items()} == {lab: joined(written[lab]) for lab in LABS}
    assert {lab: one["too wide"] for lab, one in found.items()} == none()
    for theme, is_dark in (("Light", False), ("Dark", True)):
        colors = {lab: one[theme] for lab, one in found.items()}

        assert [one["dark"] for one in colors.values()] == [is_dark] * len(LABS)
        assert {lab: one["faint"] for lab, one in colors.items()} == none()
        assert {lab: one["pictures"] for lab, one in colors.items()} == {
            lab: ["255,255,255,1"] * (lab in EXECUTED) for lab in LABS
        }


def none():
    """Return an empty list for each lab."""
    return {lab: [] for lab in LABS}


def observe(page):
    """Return what is found in the page of a lab: names of pictures, what is too wide, and the colours by theme."""
    found = {"names": names_of_pictures(page), "too wide": page.evaluate(TOO_WIDE)}
    for theme in ("Light", "Dark"):
        page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}})")
        page.wait_for_function(f"document.body.dataset.jpThemeLight == '{str(theme == 'Light').lower()}'")
        found[theme] = page.evaluate(COLORS)
    return found


def names_of_pictures(page):
    """Return what the browser hands to a screen reader for each picture of the notebook."""
    session = page.context.new_cdp_session(page)
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    notebook = session.send("DOM.querySelector", {"nodeId": root, "selector": ".jp-Notebook"})["nodeId"]
    nodes = session.send("Accessibility.queryAXTree", {"nodeId": notebook, "role": "image"})["nodes"]
    return [node["name"]["value"] for node in nodes]


def alternatives(notebook):
    """Return the text alternatives of the PNG files in an executed notebook."""
    outputs = [output for cell in nbformat.read(notebook, as_version=4).cells for output in cell.get("outputs", ())]
    return [output.metadata["image/png"]["alt"] for output in outputs if "image/png" in output.get("data", {})]


def joined(texts):
    """Return all texts as one, without the numbers of panels."""
    return re.sub(r"Panel \d of \d: ", "", " ".join(texts))


@pytest.mark.parametrize("lab", LABS)
def test_text_has_one_title_headings_in_order_and_links_that_say_where_they_go(lab):
    """One first heading, no level left out, no link named "here" or by its address, no picture without words."""
    cells = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
    links = re.findall(r"(?<!!)\[([^\]]*)\]\(", text)

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert [(one, after) for one, after in zip(levels, levels[1:]) if after > one + 1] == []
    assert [link for link in links if link.strip().lower() in {"", "here", "link", "this"} or "://" in link] == []
    assert re.findall(r"!\[\s*\]|<img(?![^>]*alt=)", text) == []
