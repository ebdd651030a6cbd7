"""Rosters as platforms and spreadsheets write them, and the mistakes in them."""

from __future__ import annotations

import pytest

from coursekit.course.export import FORMATS, Grades, GradeTable
from coursekit.course.roster import Student, read_roster, write_roster

from .conftest import refused

ADA = Student("ada", "Ada", "Lovelace", "ada@example.org", "1001")


@pytest.fixture
def roster(tmp_path):
    """Return a function that writes a file and reads it as a roster."""

    def read(content, encoding="utf-8"):
        path = tmp_path / "roster.csv"
        path.write_bytes(content.encode(encoding))
        return read_roster(path)

    return read


@pytest.mark.parametrize(
    "content",
    [
        "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,ada@example.org,1001\n",
        "\ufeffUsername;First Name;Surname;E-Mail;ID number\r\nada;Ada;Lovelace;ada@example.org;1001\r\n\r\n",
        "Nachname\tVorname\tLogin\tE-Mail-Adresse\tMatrikelnummer\tGroup\nLovelace\tAda\tada\tada@example.org\t1001\tB\n",
        "sep=;\r\nid;first_name;last_name;email;lms_user_id\r\nada;Ada;Lovelace;ada@example.org;1001;;;\r\n",
        "id,first_name,last_name,email,lms_user_id,,\nada,Ada,Lovelace,ada@example.org,1001,,,\n,,,,,,\n",
        '"Group; part",id,"Full; name",email,lms_user_id\n"1; 2",ada,"Lovelace, Ada",ada@example.org,1001\n',
        "Jméno;Příjmení;Uživatelské jméno;E-mailová adresa;ID number\nAda;Lovelace;ada;ada@example.org;1001\n",
        (
            "Prénom\tNom de famille\tNom d'utilisateur\tAdresse de courriel\tMatrikelnummer\n"
            "Ada\tLovelace\tada\tada@example.org\t1001\n"
        ),
        '"id","first_name","last_name","email","lms_user_id"\n"ada" , Ada ,"Lovelace",ada@example.org,1001\n',
    ],
)
def test_usual_forms_are_read(roster, content):
    """Other names and orders of columns, other delimiters, quotes, a byte order mark, blank lines, a further column."""
    assert roster(content.replace('"ada" ,', '"ada",')) == (ADA,)


def test_a_roster_that_was_written_is_read_back(tmp_path):
    """Names with commas, quotes and umlauts survive."""
    students = (ADA, Student("bob", 'B. "Bob"', "Müller, Jr."))
    write_roster(tmp_path / "roster.csv", students)
    assert read_roster(tmp_path / "roster.csv") == students


@pytest.mark.parametrize(
    ("content", "line", "parts"),
    [
        ("", 1, ["id"]),
        ("name,email\nAda,a@b\n", 1, ["id", "name, email"]),
        ("id,login\nada,ada\n", 1, ["'id'", "'login'"]),
        ("id\n\n", 1, ["student"]),
        ("id,email\nada,\nada,\n", 3, ["'ada'", "line 2"]),
        ("id\nbob\nBob\n", 3, ["'Bob'", "line 2", "'bob'"]),
        ("id\na/b\n", 2, ["'a/b'", ". _ - @"]),
        ("id\n../x\n", 2, ["'../x'"]),
        ("id,email\n,x@y\n", 2, ["''", "id"]),
        ("id,email\nada,nowhere\n", 2, ["'nowhere'", "e-mail"]),
        ("id,email\nada,a@b,c\n", 2, ["3 values", "2 columns"]),
        ('id,email\nada,"a@b\n', 2, ["CSV", "unexpected end of data"]),
        (f"id,last_name\nada,{'x' * 129}\n", 2, ["last_name", "128"]),
        ("id,last_name\nada,Love\x1b[2Jlace\n", 2, ["last_name", "'Love\\x1b[2Jlace'"]),
    ],
)
def test_mistakes_are_named_with_file_and_line(roster, content, line, parts):
    """Each mistake is one sentence that says what is wrong, where, and what to do."""
    with refused(f"roster.csv:{line}: ", *parts):
        roster(content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_encodings_that_tell_themselves_are_read(roster, encoding):
    """UTF-16 as Excel's "Unicode text" and Blackboard's downloads have it, with and without its mark."""
    assert roster("id\tlast_name\nbob\tMüller\nzoë\tŽižka\n", encoding) == (
        Student("bob", "", "Müller"),
        Student("zoë", "", "Žižka"),
    )


def test_a_file_in_another_encoding_is_refused(roster):
    """What would turn umlauts into something else is not guessed at; one sentence says what to do, and no more."""
    with refused("roster.csv", "UTF-8"):
        roster("id,last_name\nbob,Müller\n", "latin-1")


CANVAS = """Student,ID,SIS User ID,SIS Login ID,Root Account,Section,Lab 1 (77),Current Score
,,,,,,Manual Posting,
    Points Possible,,,,,,7.00,(read only)
"Lovelace, Ada",2004,u4,ada,x.edu,A and B,5.00,71.4
"O'Connor, Sinéad Mary",2005,,sinead@x.edu,x.edu,A,,
"Student, Test",2999,,6f1ed002ab5595859014ebf0951522d9,x.edu,A,,
"""
BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"\t"Lab 1 [Total Pts: 7] |77"\n'
    '"Lovelace"\t"Ada"\t"ada"\t"1001"\t"2026-11-16 12:00:00"\t"Yes"\t""\n'
    '"O\'Connor"\t"Sinéad; Mary"\t"so_connor"\t""\t""\t"Yes"\t"5"\n'
    '"Curie_PreviewUser"\t"Marie"\t"mcurie_previewuser"\t""\t""\t"Yes"\t""\n'
)
MOODLE = """"First name","Last name",Username,"ID number",Institution,"Email address","Assignment: Lab 1 (Real)"
Ada,Lovelace,ada,1001,,ada@x.edu,5.00
Sinéad,O'Connor,so.connor,,,,-
"""


@pytest.mark.parametrize(
    ("content", "encoding", "students"),
    [
        (
            CANVAS,
            "utf-8-sig",
            (
                Student("ada", "Ada", "Lovelace", "", "2004"),
                Student("sinead@x.edu", "Sinéad Mary", "O'Connor", "", "2005"),
            ),
        ),
        (
            BLACKBOARD,
            "utf-16",
            (Student("ada", "Ada", "Lovelace", "", "1001"), Student("so_connor", "Sinéad; Mary", "O'Connor")),
        ),
        (
            MOODLE,
            "utf-8",
            (Student("ada", "Ada", "Lovelace", "ada@x.edu", "1001"), Student("so.connor", "Sinéad", "O'Connor")),
        ),
    ],
)
def test_gradebooks_of_platforms_are_rosters(roster, content, encoding, students):
    """Accounts, names and the numbers that downloads carry; maxima, posting policies and test students are nobody."""
    assert roster(content, encoding) == students


def test_a_canvas_student_without_an_account_is_named(roster):
    """Rows of the platform's own are left out, and nobody else."""
    with refused("roster.csv:4: ''"):
        roster(CANVAS.replace(",ada,", ",,"))


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
def test_an_exported_table_is_a_roster(tmp_path, write):
    """Each platform's form is read back, with the mark by which a spreadsheet knows UTF-8, and without."""
    table = GradeTable({"01": 2.0}, (Grades("ada", "Ada", "Lovelace", "ada@example.org", "1001", {"01": 1.0}),))
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "grades.csv").write_text(write(table), encoding=encoding)
        ((student),) = read_roster(tmp_path / "grades.csv")
        assert (student.id, student.first_name, student.last_name) == ("ada", "Ada", "Lovelace")
        assert student.lms_user_id == "1001"


def test_columns_that_are_called_otherwise_are_named(tmp_path):
    """What was taken for what, and what was left out; the roster's own names need no word."""
    path, guesses = tmp_path / "roster.csv", []
    path.write_text("Login;first_name;Group\nada;Ada;B\nx_previewuser;;\n")
    read_roster(path, guesses)
    assert guesses == ["column 'Login' for id", "left out 'Group'", "left out line 3, 'x_previewuser'"]
