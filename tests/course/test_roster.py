"""Rosters as platforms and spreadsheets write them, and the mistakes in them."""

from __future__ import annotations

import re

import pytest

from coursekit.course.roster import Student, merge, read_roster, write_roster
from coursekit.errors import CourseKitError

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
    ("content", "message"),
    [
        ("", "roster.csv:1: no column is called id; the header says nothing: name the column of account names id."),
        ("name,email\nAda,a@b\n", "roster.csv:1: no column is called id; the header says name, email: "),
        ("id,login\nada,ada\n", "roster.csv:1: two columns are taken for 'id'; one of them is 'login': rename one."),
        ("id\n\n", "roster.csv:1: there is no student: write one line for each below the header."),
        ("id,email\nada,\nada,\n", "roster.csv:3: the id 'ada' stands in line 2 already: keep one."),
        (
            "id\nbob\nBob\n",
            "roster.csv:3: the id 'Bob' stands in line 2 already as 'bob', one person on most systems: keep one.",
        ),
        ("id\na/b\n", "roster.csv:2: 'a/b' is not an id: use the account's name, of letters, digits and . _ - @."),
        ("id\n../x\n", "roster.csv:2: '../x' is not an id: "),
        ("id,email\n,x@y\n", "roster.csv:2: '' is not an id: "),
        ("id,email\nada,nowhere\n", "roster.csv:2: 'nowhere' is not an e-mail address: correct it or leave it empty."),
        ("id,email\nada,a@b,c\n", "roster.csv:2: 3 values stand under 2 columns: put texts in quotes."),
        ('id,email\nada,"a@b\n', "roster.csv:2: this is not valid CSV (unexpected end of data)."),
        (f"id,last_name\nada,{'x' * 129}\n", "roster.csv:2: last_name is longer than 128 characters."),
        (
            "id,last_name\nada,Love\x1b[2Jlace\n",
            "roster.csv:2: last_name 'Love\\x1b[2Jlace' holds a control character: ",
        ),
    ],
)
def test_mistakes_are_named_with_file_and_line(roster, content, message):
    """Each mistake is one sentence that says what is wrong, where, and what to do."""
    with pytest.raises(CourseKitError, match=re.escape(message)):
        roster(content)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_file_in_another_encoding_is_refused(roster, encoding):
    """What would turn umlauts into something else is not guessed at; one sentence says what to do, and no more."""
    with pytest.raises(CourseKitError, match=r"roster.csv is not text in UTF-8: save it again as CSV in UTF-8\.$"):
        roster("id,last_name\nbob,Müller\n", encoding)


def test_columns_that_are_called_otherwise_are_named(tmp_path):
    """What was taken for what, and what was left out; the roster's own names need no word."""
    path, guesses = tmp_path / "roster.csv", []
    path.write_text("Login;first_name;Group\nada;Ada;B\n")
    read_roster(path, guesses)
    assert guesses == ["column 'Login' for id", "left out 'Group'"]


def test_merging_adds_and_never_changes():
    """New students follow the old ones; who is gone stays, and who differs is named."""
    bob, eve = Student("bob", "Bob"), Student("eve")
    assert merge((ADA, bob), (Student("bob", "Robert"), eve)) == ((ADA, bob, eve), ("bob",))
    with pytest.raises(CourseKitError, match="the roster has 'Bob', and the course 'bob', one person on most systems"):
        merge((ADA, bob), (Student("Bob"),))
