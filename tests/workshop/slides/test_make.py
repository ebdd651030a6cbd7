"""Marp renders the decks, Chromium measures every slide, and nothing comes from the network."""

import contextlib
import re
import tempfile
import zlib
from pathlib import Path

import pytest

from coursekit.errors import CourseKitError
from coursekit.slurm.jobs.job_script import JobScript
from coursekit.slurm.jobs.render import render
from coursekit.slurm.sites.load import load_sites
from workshop.cli.slides import VERBS
from workshop.slides import marp
from workshop.slides.deck import slides_of
from workshop.slides.make import make_slides, select_decks

pytestmark = pytest.mark.needs("chromium")

ROOT = Path(__file__).parents[3]
FIGURE = """
from workshop.slides.drawing import canvas
DATA, CAPTION = (), "A bar."
def draw():
    figure, (axes,) = canvas()
    axes.bar([0], [1])
    return figure
def words():
    return "A bar of height 1."
"""
MAX_PDF_BYTES = 3_000_000  # a hand-out is mailed; one hatch that is printed as a picture has more
PLACE = re.compile(r"\[(\d\d\w?-[\w-]+)\]\(\1\.md\): (.+) \|")
DIRECTIVE = re.compile(r"^#SBATCH (--[\w-]+=\S+)", re.MULTILINE)
LONG_CODE = f"## Wide\n\n```python\n{'x = 1; ' * 20}\n```"


def make(lecture, *slides, pdf=False):
    """Make a deck of these slides and return the files."""
    lecture.deck(*slides)
    decks = select_decks(lecture.root, ())
    return make_slides(lecture.root, decks, VERBS, pdf=pdf, progress=lambda _: None)


def test_a_deck_becomes_a_page_and_a_pdf(lecture):
    """The page holds slides, notes and text alternatives and fetches nothing; the PDF has a page for each slide."""
    lecture.write("figures/bar.py", FIGURE)
    page, pdf = make(lecture, "# One $x^2$", '## Two\n\n{{ figure("bar") }}', pdf=True)
    html = page.read_text()

    assert html.count("<section") == 2
    assert 'alt="A bar of height 1."' in html
    assert "Say it." in html
    assert re.findall(r"""(?:src|href)=["']https?:|url\(["']?https?:|@import""", html) == []
    assert len(re.findall(rb"/Type\s*/Page\b", inflated(pdf.read_bytes()))) == 2


def inflated(pdf):
    """Return what the compressed parts of a PDF hold."""
    parts = []
    for part in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        with contextlib.suppress(zlib.error):  # fonts and pictures are packed in other ways
            parts.append(zlib.decompress(part))
    return b"\n".join(parts)


FAULTS = (
    ("## Much\n\n" + "- a line\n" * 20, r'\(Much\): "a line" is \d+ px too low'),
    (LONG_CODE, r'\(Wide\): "x = 1; .*" is \d+ px wider than its place'),
    ('## Small\n\n<p style="font-size: 12px">tiny</p>', r'\(Small\): "tiny" is written in 12.0 px, less than 20'),
    ('## Pale\n\n<p style="color: #ccc">pale</p>', r'\(Pale\): "pale" has a contrast of 1\.\d to 1, less than 4.5'),
    ("## None\n\n![A](figures/none.svg)", r"\(None\): none.svg cannot be shown"),
    (
        '## Mute\n\n{{ figure("bar") | replace("A bar of height 1.", "") }}',
        r"\(Mute\): bar.svg has no text alternative",
    ),
    ("## Tight\n\n" + "- a line\n" * 9 + '\n{{ figure("bar") }}', r"\(Tight\): bar.svg is shown at \d+ %, too small"),
)


def test_slides_that_cannot_be_read_are_refused(lecture):
    """What overflows, is too small, too pale or not there is named with deck and slide, all of it at once."""
    lecture.write("figures/bar.py", FIGURE)

    with pytest.raises(CourseKitError) as error:
        make(lecture, *(slide for slide, _ in FAULTS))
    said = str(error.value)
    missing = [
        fault
        for number, (_, fault) in enumerate(FAULTS, 1)
        if not re.search(rf"slides/01-try.md, slide {number} {fault}", said)
    ]
    assert missing == [], said
    assert {int(number) for number in re.findall(r", slide (\d+) ", said)} == set(range(1, len(FAULTS) + 1))


def test_an_unknown_deck_is_refused(lecture):
    """The sentence lists those there are; a students' copy has no lecture."""
    with pytest.raises(CourseKitError, match=r"deck.none"):
        select_decks(lecture.root, [])
    lecture.deck("# One")
    with pytest.raises(CourseKitError, match=r"'9'.*01-try.*deck.unknown"):
        select_decks(lecture.root, ["9"])


def test_the_lecture_has_a_page_and_a_pdf_of_every_deck(whole_lecture):
    """`workshop slides` ends without a fault; every deck is there in both forms, and no page fetches anything."""
    names = sorted(path.stem for path in (ROOT / "slides").glob("[0-9][0-9]*-*.md"))

    assert names
    for name in names:
        html = (whole_lecture / f"{name}.html").read_text()
        assert re.findall(r"""src=["']https?:|url\(["']?https?:|@import""", html) == []
        pdf = (whole_lecture / f"{name}.pdf").read_bytes()
        assert pdf.startswith(b"%PDF")
        assert len(pdf) < MAX_PDF_BYTES, name


def test_every_figure_is_used_once(whole_lecture):
    """A figure that no deck shows is dead; every other one was drawn, and each of its steps has one slide."""
    scripts = {path.stem for path in (ROOT / "slides/figures").glob("*.py")}
    pages = " ".join(path.read_text() for path in whole_lecture.glob("*.html"))
    used = {re.sub(r"-\d+$", "", name) for name in re.findall(r'src="figures/([^"]+)\.(?:svg|png)"', pages)}

    assert {name for name in scripts if name not in used and f'"figures/{name}.' not in pages} == set()
    shown = re.findall(r'src="(figures/[^"]+)"', pages)
    assert sorted(shown) == sorted(set(shown))


def test_what_a_slide_asks_of_slurm_is_what_a_job_script_asks_for(whole_lecture):
    """Each option of a `#SBATCH` line or of salloc is that of a script of ours, on some partition of a machine."""
    scripts = [path.read_text() for path in (ROOT / "slurm/jobs").glob("*/*.sbatch")]
    scripts += [
        render(ROOT, JobScript(site, "solutions", key=key, num_nodes=1))
        for site in load_sites(ROOT)
        for key in site.partitions
    ]
    known = {option for script in scripts for option in DIRECTIVE.findall(script)}
    text = "\n".join(path.read_text() for path in whole_lecture.glob("*.md")).replace("\\\n", "")
    asked = {option for line in re.findall(r"^salloc (.*)$", text, re.MULTILINE) for option in line.split()}
    asked |= set(DIRECTIVE.findall(text))

    assert {option for option in asked - known if not option.startswith("--account=")} == set() != asked


def test_headings_are_told_apart_and_topics_lead_to_them(whole_lecture):
    """No two slides of a deck have the same heading; those that slides/README.md names exist."""
    texts = {path.stem: path.read_text().split("---\n", 2)[2] for path in whole_lecture.glob("*.md")}
    titles = {name: [slide.title for slide in slides_of(text)] for name, text in texts.items()}
    places = PLACE.findall((ROOT / "slides/README.md").read_text())

    assert {name: all_ for name, all_ in titles.items() if len(set(all_)) < len(all_)} == {}
    assert [(deck, title) for deck, title in places if title not in titles[deck]] == [] != places


@pytest.fixture
def temporary(monkeypatch):
    """Give the folder that programs take for temporary files, with a path short enough for Chromium's socket."""
    with tempfile.TemporaryDirectory(prefix="try-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.fixture
def deck(tmp_path):
    """Give a deck of one slide, with the theme beside it."""
    (tmp_path / "theme.css").write_text("/* @theme plain */")
    path = tmp_path / "deck.md"
    path.write_text("---\ntheme: plain\n---\n# One slide\n")
    return path


@pytest.mark.parametrize("timeout_s", [300, 0.7])
def test_printing_leaves_a_pdf_and_nothing_else(pytestconfig, deck, temporary, monkeypatch, timeout_s):
    """The browser and its profile are gone, also when it hangs; the person then reads which deck it was."""
    monkeypatch.setattr(marp, "TIMEOUT_S", timeout_s)
    try:
        (pdf,) = marp.to_pdf(pytestconfig.rootpath, [deck])
        assert pdf.read_bytes().startswith(b"%PDF-")
    except CourseKitError as error:
        codes = [error.code]
    else:
        codes = []

    assert codes == ([] if timeout_s > 1 else ["marp.failed"])
    assert list(temporary.iterdir()) == []
