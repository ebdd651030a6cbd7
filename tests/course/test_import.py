"""`coursekit take DIR`: files of e-mails and platforms become hand-ins, once, in any order."""

import io
import itertools
import os
import re
import shutil
import zipfile
from datetime import datetime, timedelta, timezone

import nbformat
import pytest

from coursekit.course.collect import collect
from coursekit.course.folder import find_course
from coursekit.course.hand_in.import_ import IMPORTED, KNOWN, NOT_IMPORTED, import_all
from coursekit.course.hand_in.unpack import HandInManifest
from coursekit.course.versions import read_submission, read_versions
from coursekit.errors import codes_in

from .conftest import MONDAY, NAME, RIGHT, answer, filled, job_record, later, refused, to_be_graded, tree


@pytest.fixture
def inbox(course, tmp_path):
    """The instructor's folder of downloads, and functions that put files there."""
    return Inbox(course, tmp_path / "downloads")


class Inbox:
    """A folder of downloads."""

    def __init__(self, course, folder):
        self.course, self.folder = course, folder
        folder.mkdir()

    def packed(self, name=None, user="ada", mean="sum(x) / len(x)", at=MONDAY, written=None, lab=NAME):  # noqa: PLR0913, PLR0917  # all that may be odd
        """Put a packed hand-in there under a name of the platform's."""
        manifest = HandInManifest(NAME, user, at)
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as packed:
            packed.writestr("hand-in.json", manifest.to_bytes())
            packed.writestr(f"{NAME}.ipynb", nbformat.writes(filled(self.course, lab, answer(mean))))
            packed.writestr(f"jobs/{NAME}-4711/result.json", job_record())
        return self.put(data.getvalue(), name or f"{manifest.file_name}.zip", written or at)

    def notebook(self, name, answers=RIGHT, written=MONDAY):
        """Put a plain notebook there."""
        return self.put(nbformat.writes(filled(self.course, NAME, answers)).encode(), name, written)

    def put(self, data, name, written):
        """Put a file there, last changed at this time."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (written.replace(tzinfo=timezone.utc).timestamp(),) * 2)
        return path

    def take(self, **options):
        """Take everything, and return what became of each file."""
        return {one.file: one for one in import_all(self.course, self.folder, **options)[0]}

    def outcomes(self):
        """Take everything, and return outcome and student of each file."""
        return {file: (one.outcome, one.student) for file, one in self.take().items()}


def test_an_ordinary_download(course, inbox):
    """Files of any name and depth reach their students, whole, and stay where they are."""
    inbox.packed()
    inbox.notebook("Bob Builder_12_assignsubmission_file_/Untitled (3).ipynb")
    (inbox.folder / ".DS_Store").write_text("")
    before = tree(inbox.folder)
    own = f"{NAME}--ada--2026-11-16T12-00-00Z.zip"
    other = "Bob Builder_12_assignsubmission_file_/Untitled (3).ipynb"
    assert inbox.outcomes() == {own: (IMPORTED, "ada"), other: (IMPORTED, "bob")}
    assert tree(inbox.folder) == before
    assert tree(course.submitted(NAME, "ada")).keys() == {
        "hand-in.json",
        "timestamp.txt",
        f"{NAME}.ipynb",
        f"jobs/{NAME}-4711/result.json",
    }
    hand_in = read_submission(course, NAME, "ada")
    assert (hand_in.timestamp, hand_in.notes, hand_in.flags) == (MONDAY, (), ())
    assert [job.job for job in hand_in.jobs] == ["4711"]
    assert read_submission(course, NAME, "bob").timestamp == MONDAY


def test_the_same_file_twice_changes_nothing(course, inbox):
    """Also under another name and of another time of the file: nothing in the course folder changes."""
    path = inbox.packed("ada.zip")
    inbox.notebook("bob/x.ipynb")
    inbox.take()
    before = tree(course.folder)
    shutil.copyfile(path, inbox.folder / "ada (1).zip")
    inbox.notebook("bob/y.ipynb", written=later(5))
    assert inbox.outcomes() == {
        "ada.zip": (KNOWN, "ada"),
        "ada (1).zip": (KNOWN, "ada"),
        "bob/x.ipynb": (KNOWN, "bob"),
        "bob/y.ipynb": (KNOWN, "bob"),
    }
    assert tree(course.folder) == before


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_newest_is_graded_in_whichever_order_they_arrive(course, inbox, hand_in, order):
    """Two files and one of the exchange: the newest counts, whatever comes first, and all are kept."""
    steps = [
        lambda: (inbox.packed(mean="0"), inbox.take()),
        lambda: (hand_in(answers=answer("1"), at=later(1)), collect(course, NAME)),
        lambda: (inbox.packed(mean="2", at=later(2), written=later(-9)), inbox.take()),
    ]
    for done, step in enumerate(order, 1):
        steps[step]()
        assert to_be_graded(course) == str(max(order[:done]))
    assert [version.timestamp for version in read_versions(course.hand_ins(NAME, "ada"))] == [
        later(i) for i in range(3)
    ]


def test_a_time_in_the_future_counts_for_nothing(course, inbox):
    """The file's own time counts, and the instructor is told, now and when grading."""
    inbox.packed("ada/1.zip", mean="0", at=MONDAY.replace(year=2999), written=later(-1))
    inbox.packed("ada/2.zip", mean="1", written=later(4))
    taken = inbox.take()
    assert to_be_graded(course) == "1"
    first, second = read_versions(course.hand_ins(NAME, "ada"))
    ((flag,), no_flags) = first.flags, second.flags
    assert (flag.kind, no_flags) == ("time", ())
    assert [each in flag.text for each in ("2999-11-16 12:00:00 UTC", "2026-11-16 11:00:00 UTC")] == [True, True]
    assert (taken["ada/1.zip"].outcome, taken["ada/1.zip"].lines) == (IMPORTED, (flag.text,))


def test_what_a_zip_holds_beyond_a_folder_takes_no_flag_away(course, inbox):
    """A record in a folder that no listing shows is not kept: the version that is graded keeps its flags."""
    path = inbox.packed("ada/1.zip", at=MONDAY.replace(year=2999), written=later(-1))
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr("jobs/__pycache__/result.json", job_record())
    os.utime(path, (later(-1).replace(tzinfo=timezone.utc).timestamp(),) * 2)
    for _ in range(2):
        inbox.take()
        assert [flag.kind for flag in read_submission(course, NAME, "ada").flags] == ["time"]
        assert len(read_versions(course.hand_ins(NAME, "ada"))) == 1


NO_TIME = datetime(1980, 1, 1)  # noqa: DTZ001  # of a file in a zip without times


def test_a_time_long_before_the_course_counts_for_nothing(course, inbox):
    """A file without a time is no older than one of November: it counts as of when it was taken, and is flagged."""
    before = datetime.now(timezone.utc).replace(tzinfo=None)
    inbox.notebook("ada/old.ipynb", answer("0"))
    inbox.notebook("ada/new.ipynb", answer("1"), NO_TIME)
    taken = inbox.take()
    assert to_be_graded(course) == "1"
    old, new = read_versions(course.hand_ins(NAME, "ada"))
    assert (old.timestamp, old.flags) == (MONDAY, ())
    assert before <= new.timestamp <= datetime.now(timezone.utc).replace(tzinfo=None)
    facts = ("1980-01-01 00:00:00 UTC", f"{new.timestamp:%Y-%m-%d %H:%M:%S} UTC")
    assert [(flag.kind, *(fact in flag.text for fact in facts)) for flag in new.flags] == [("time", True, True)]
    assert taken["ada/new.ipynb"].lines == (new.flags[0].text,)


def zipped(files, at=MONDAY):
    """Return a zip of these files, path to content, all of one local time."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name, at.timetuple()[:6]), content)
    return data.getvalue()


def as_local(moment):
    """Return what a clock on the wall, here, shows as UTC: zips have no zone."""
    return moment.astimezone(timezone.utc).replace(tzinfo=None)


@pytest.mark.parametrize("place", ["{}_assignsubmission_file_/x.ipynb", "{}_assignsubmission_file_x.ipynb"])
def test_all_submissions_of_moodle(course, inbox, place):
    """With folders and without: what each student uploaded, be it a notebook, a hand-in, or a zip with a notebook."""
    text = nbformat.writes(filled(course, NAME, RIGHT))
    own = inbox.packed("hand-in.zip").read_bytes()
    names = ["Ada Lovelace_1", "Bob Builder_2", "Grace Hopper_3"]
    ada, bob, grace = (place.format(name) for name in names)
    pdf = ada.replace("x.ipynb", "report.pdf")
    files = {ada.replace(".ipynb", ".zip"): own, bob.replace(".ipynb", ".zip"): zipped({"lab/my lab.ipynb": text})}
    inbox.put(zipped({**files, grace: text, pdf: "%PDF"}), "DL-Lab 1-4711.zip", later(9))
    (inbox.folder / "hand-in.zip").unlink()
    taken = {name.removeprefix("DL-Lab 1-4711.zip/"): one for name, one in inbox.take().items()}
    assert {name: (one.outcome, one.student) for name, one in taken.items()} == {
        ada.replace(".ipynb", ".zip"): (IMPORTED, "ada"),
        f"{bob.replace('.ipynb', '.zip')}/lab/my lab.ipynb": (IMPORTED, "bob"),
        grace: (NOT_IMPORTED, ""),
        pdf: (NOT_IMPORTED, "ada"),
    }
    assert codes_in(taken[grace].lines[0]) == ["owner.unknown"]
    assert read_submission(course, NAME, "ada").timestamp == MONDAY  # as it was packed
    assert read_submission(course, NAME, "bob").timestamp == as_local(MONDAY)


def test_times_in_a_zip_are_those_of_the_course_s_zone(course, inbox):
    """Whatever the zone of the machine that takes it: noon in Kathmandu is a quarter past six in UTC."""
    settings = course.folder / "course.toml"
    others = [line for line in settings.read_text().splitlines() if "timezone = " not in line]
    settings.write_text("\n".join(['timezone = "Asia/Kathmandu"', *others]))
    inbox.course = find_course(course.root, course.folder)
    text = nbformat.writes(filled(course, NAME, RIGHT))
    inbox.put(zipped({"ada/x.ipynb": text}), "all.zip", later(9))
    assert inbox.outcomes() == {"all.zip/ada/x.ipynb": (IMPORTED, "ada")}
    assert read_submission(course, NAME, "ada").timestamp == MONDAY - timedelta(hours=5, minutes=45)


def test_a_zip_is_read_as_the_folder_that_it_holds(course, inbox, call):
    """What the kit released, and what programs leave behind, is not worth a line; a call can name one file alone."""
    text = nbformat.writes(filled(course, NAME, RIGHT))
    lab = {
        f"{NAME}/{NAME}.ipynb": text,
        f"{NAME}/AGENTS.md": "Ask back.",
        f"{NAME}/hand-in.json": "{}",
        f"{NAME}/.ipynb_checkpoints/{NAME}-checkpoint.ipynb": text,
        f"__MACOSX/{NAME}/._{NAME}.ipynb": "",
        f"{NAME}/jobs/{NAME}-4711/result.json": job_record(),
    }
    path = inbox.put(zipped(lab), "ada (1).zip", MONDAY)
    inbox.put(zipped({"builderbob_1002_77_x.ipynb": text.replace("every", "each")}), "submissions.zip", MONDAY)
    assert call("take", path)[1][0].startswith(f"imported: ada (1).zip/{NAME}/{NAME}.ipynb: ada {NAME}, written ")
    assert inbox.outcomes() == {
        f"ada (1).zip/{NAME}/{NAME}.ipynb": (KNOWN, "ada"),
        "submissions.zip/builderbob_1002_77_x.ipynb": (IMPORTED, "bob"),
    }


def test_an_odd_zip_takes_nothing_else_with_it(course, inbox):
    """A zip in a zip in a zip, an empty one, one without times, and names that lead elsewhere, where nothing is put."""
    text = nbformat.writes(filled(course, NAME, RIGHT))
    inbox.put(zipped({"a.zip": zipped({"b.zip": zipped({"x.ipynb": text})})}), "ada/1.zip", MONDAY)
    inbox.put(zipped({}), "ada/2.zip", MONDAY)
    inbox.put(zipped({"../../bob/x.ipynb": text, "/etc/ada\\x.json": "{}"}), "ada/3.zip", MONDAY)
    inbox.put(zipped({"ada.ipynb": text.replace("every", "each")}, NO_TIME), "4.zip", MONDAY)
    taken = inbox.take()
    assert {name: one.outcome for name, one in taken.items()} == {
        "ada/1.zip/a.zip/b.zip": NOT_IMPORTED,
        "ada/2.zip": NOT_IMPORTED,
        "ada/3.zip/bob/x.ipynb": NOT_IMPORTED,
        "ada/3.zip/etc/ada/x.json": NOT_IMPORTED,
        "4.zip/ada.ipynb": IMPORTED,
    }
    assert codes_in(taken["ada/3.zip/bob/x.ipynb"].lines[0]) == ["owner.contradictory"]
    assert "1980-01-01" in taken["4.zip/ada.ipynb"].lines[0]
    assert {path.name for path in inbox.folder.parent.iterdir()} == {"course", "downloads"}


@pytest.mark.parametrize(
    "name", ["ada.ipynb.txt", "ada.json", "ada.ipynb.download", "ada (1).ipynb.json", "ada/x", "ada.IPYNB (2).TXT"]
)
def test_a_notebook_under_the_name_that_a_browser_gave_it(inbox, name):
    """What is in a file says what it is; what is none is not taken, whatever it is called."""
    inbox.notebook(name)
    inbox.put(b'{"cells": 1}', "bob.json", MONDAY)
    assert inbox.outcomes() == {name: (IMPORTED, "ada"), "bob.json": (NOT_IMPORTED, "bob")}


def changed(path, change):
    """Change the bytes of a file."""
    path.write_bytes(change(path.read_bytes()))
    return path


def link(inbox):
    """Put a link to a notebook there."""
    path = inbox.folder / "ada.ipynb"
    path.symlink_to(inbox.course.root / "labs" / NAME / f"{NAME}.ipynb")
    return path


UNKNOWN = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
MADE_FROM = f"solutions/{NAME}/".encode()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda inbox: inbox.packed(user="mallory"), "owner.not-on-roster"),
        (lambda inbox: inbox.notebook("x.ipynb"), "owner.unnamed"),
        (
            lambda inbox: changed(
                inbox.notebook("ada/x.ipynb"), lambda data: data.replace(MADE_FROM, b"solutions/09-none/")
            ),
            "lab.not-released",
        ),
        (lambda inbox: inbox.put(UNKNOWN, "ada/x.ipynb", MONDAY), "notebook.no-answer"),
        (lambda inbox: inbox.put(b"{", "ada/x.ipynb", MONDAY), "notebook.damaged"),
        (lambda inbox: changed(inbox.packed("ada.zip"), lambda data: data[:-9]), "zip.damaged"),
        (link, "file.link"),
        (lambda inbox: changed(inbox.packed("ada.zip"), lambda data: data.ljust(130_000_000)), "file.not-readable"),
        (lambda inbox: inbox.put(b"my answers", "ada.txt", MONDAY), "file.no-hand-in"),
        (lambda inbox: inbox.put(zipped({"word/x.xml": ""}), "ada.docx", MONDAY), "file.no-hand-in"),
    ],
)
def test_what_is_not_imported(course, inbox, make, code):
    """One line, with what to do; nothing of it is in the course, and the others are imported all the same."""
    path = make(inbox)
    inbox.packed("bob/1.zip", "bob")
    taken = inbox.take()
    one = taken[path.relative_to(inbox.folder).as_posix()]
    assert (one.outcome, codes_in(one.lines[0])) == (NOT_IMPORTED, [code])
    assert taken["bob/1.zip"].outcome == IMPORTED
    assert [path.name for path in (course.folder / "submitted").iterdir()] == ["bob"]
    assert [path.name for path in (course.folder / "hand-ins").glob("*/*")] == ["bob"]


def test_the_command(inbox, call):
    """A line for each file, a sentence for what is odd, exit status 1 while anything is left; DIR may be a link."""
    inbox.packed("ada (1).zip")
    inbox.packed("x\x1b.zip", "eve", at=later(1), written=later(26))
    status, lines = call("take", inbox.folder)
    assert status == 1
    packed = f"ada {NAME}, packed 2026-11-16 12:00:00 UTC, written 2026-11-16 12:00:00 UTC"
    assert f"imported: ada (1).zip: {packed}" in lines
    assert any(
        line.startswith(f"not imported: x\ufffd.zip: {NAME}, packed 2026-11-16 13:00:00 UTC, ") for line in lines
    )
    assert codes_in("".join(lines)) == ["owner.not-on-roster"]
    assert re.findall(r"\d+", lines[-1]) == ["2", "1", "1"]

    (inbox.folder / "x\x1b.zip").unlink()
    (inbox.folder.parent / "link").symlink_to(inbox.folder)
    status, lines = call("take", inbox.folder.parent / "link")
    assert (status, re.findall(r"\d+", lines[-1])) == (0, ["1", "0", "0"])


def test_the_course_itself_is_no_download(course, inbox):
    """What lies in it would be taken again."""
    for folder in (course.folder, course.folder.parent, course.folder / "hand-ins", course.folder / "submitted"):
        with refused("folder.is-course"):
            import_all(course, folder)
    assert inbox.take() == {}


def test_a_disk_that_refuses_is_one_sentence(course, inbox, call):
    """What stands in the way is named; once that is fixed, the same call goes on."""
    inbox.packed()
    obstacle = course.folder / "hand-ins" / NAME
    obstacle.write_text("")
    with refused(str(obstacle.parent.name), "import.stopped"):
        call("take", inbox.folder)
    obstacle.unlink()
    assert call("take", inbox.folder)[0] == 0
