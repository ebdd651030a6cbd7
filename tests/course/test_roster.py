"""Rosters as platforms and spreadsheets write them, and the mistakes in them."""

import pytest

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
        "Surname\tGiven name\tLogin\tMail\tID number\tGroup\nLovelace\tAda\tada\tada@example.org\t1001\tB\n",
        "id,first_name,last_name,email,lms_user_id,,\nada,Ada,Lovelace,ada@example.org,1001,,,\n,,,,,,\n",
        '"Group; part",id,"Full; name",name,email,lms_user_id\n"1; 2",ada,x,"Lovelace, Ada",ada@example.org,1001\n',
        'sep=;\r\nid;first_name;last_name;email;lms_user_id\r\nada;Ada;"Lovelace";ada@example.org;1001\r\n',
        '\ufeff"sep=|"\nid|first_name|last_name|email|lms_user_id\nada|Ada|Lovelace|ada@example.org|1001\n',
        (
            "Nom;Prénom;Nom d'utilisateur;Adresse de courriel;Numéro d'identification\n"
            "Lovelace;Ada;ada;ada@example.org;1001\n"
        ),
        (
            "id,last_name,first_name,email,lms_user_id\nIdentifiant,Nom,Prénom,Courriel,\n"
            "ada,Lovelace,Ada,ada@example.org,1001\n"
        ),
        '"id","first_name","last_name","email","lms_user_id"\n"ada", Ada ,"Lovelace",ada@example.org,1001\n',
    ],
)
def test_usual_forms_are_read(roster, content):
    """Other names and orders of columns, delimiters, quotes, marks, blank lines, further columns, a second header."""
    assert roster(content) == (ADA,)


def test_a_roster_that_was_written_is_read_back(tmp_path):
    """Names with commas, quotes and umlauts survive."""
    students = (ADA, Student("bob", 'B. "Bob"', "Müller, Jr."))
    write_roster(tmp_path / "roster.csv", students)
    assert read_roster(tmp_path / "roster.csv") == students


@pytest.mark.parametrize(
    ("content", "line", "parts"),
    [
        ("", 1, ["roster.no-id-column"]),
        ("name,email\nAda,a@b\n", 1, ["roster.no-id-column", "name, email"]),
        ("id\n\n", 1, ["roster.empty"]),
        ("id,email\nada,\nada,\n", 3, ["roster.twice", "'ada'", "line 2"]),
        ("id\nbob\nBob\n", 3, ["roster.twice", "'Bob'", "line 2", "'bob'"]),
        ("sep=,\nid\na/b\n", 3, ["roster.no-id", "'a/b'"]),
        ("id\n../x\n", 2, ["roster.no-id", "'../x'"]),
        ("id,email\n,x@y\n", 2, ["roster.no-id", "''"]),
        ("id,email\nada,a@b,c\n", 2, ["roster.too-many-values", "3 values", "2 columns"]),
        ('id,email\nada,"a@b\n', 2, ["roster.no-csv"]),
    ],
)
def test_mistakes_are_named_with_file_and_line(roster, content, line, parts):
    """Each mistake is one sentence that says what is wrong, where, and what to do."""
    with refused(f"roster.csv:{line}: ", *parts):
        roster(content)


def test_a_file_in_another_encoding_is_refused(roster):
    """What would turn umlauts into something else is not guessed at; one sentence says what to do, and no more."""
    with refused("roster.csv", "roster.not-utf8"):
        roster("id,last_name\nbob,Müller\n", "latin-1")


CANVAS = """Student,ID,SIS User ID,SIS Login ID,Root Account,Section,Lab 1 (77),Current Score
,,,,,,Manual Posting,
    Points Possible,,,,,,7.00,(read only)
"Lovelace, Ada",2004,u4,ada,x.edu,A and B,5.00,71.4
"O'Connor, Sinéad Mary",2005,,sinead@x.edu,x.edu,A,,
"Student, Test",2999,,6f1ed002ab5595859014ebf0951522d9,x.edu,A,,
"""
FRENCH = (
    CANVAS.replace("Student,ID", "Étudiant,ID")
    .replace("Student, Test", "Étudiant, Test")
    .replace("Points Possible", "Points possibles")
    .replace("Manual Posting", "Publication manuelle")
)
MOODLE = """"First name","Last name",Username,"ID number",Institution,"Email address","Assignment: Lab 1 (Real)"
Ada,Lovelace,ada,1001,,ada@x.edu,5.00
Sinéad,O'Connor,so.connor,,,,-
"""


@pytest.mark.parametrize(
    ("content", "students"),
    [
        (CANVAS, [("ada", "Ada", "", "2004"), ("sinead@x.edu", "Sinéad Mary", "", "2005")]),
        (FRENCH, [("ada", "Ada", "", "2004"), ("sinead@x.edu", "Sinéad Mary", "", "2005")]),
        (MOODLE, [("ada", "Ada", "ada@x.edu", "1001"), ("so.connor", "Sinéad", "", "")]),
    ],
)
def test_gradebooks_of_platforms_are_rosters(roster, content, students):
    """Accounts, names and the numbers that downloads carry; maxima, posting policies and test students are nobody."""
    found = roster(content, "utf-8-sig")
    assert [(one.id, one.first_name, one.email, one.lms_user_id) for one in found] == students
    assert [one.last_name for one in found] == ["Lovelace", "O'Connor"]


def test_a_canvas_student_without_an_account_is_named(roster, tmp_path):
    """Rows of the platform's own are left out, and nobody else: of a list with a sentence, which stops no other."""
    with refused("roster.csv:4: ''", "roster.no-id"):
        roster(CANVAS.replace(",ada,", ",,"))
    told = []
    assert [one.id for one in read_roster(tmp_path / "roster.csv", told)] == ["sinead@x.edu"]
    (sentence,) = told
    assert [part in sentence for part in ("roster.csv:4: ", "Ada Lovelace", "2004")] == [True] * 3


def test_who_shares_a_team(roster, tmp_path):
    """The column is kept; platforms' groups, which are parts of a class, make no team."""
    students = (Student("ada", team="1"), Student("bob", team="1"), Student("cyd"))
    assert roster("id,Team,Group\nada,1,A\nbob,1,A\ncyd,,A\n") == students
    write_roster(tmp_path / "again.csv", students)
    assert read_roster(tmp_path / "again.csv") == students
