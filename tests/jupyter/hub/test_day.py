"""The student's and the instructor's day on the demo's hub, in a real browser, and what nobody may do there."""

import json
import re
import subprocess
from pathlib import Path

import psutil
import pytest

from coursekit.labs.build.build import build_sources
from coursekit.labs.lab import select_labs

from .people import TIMEOUT_MS, Instructor, Student, answers_and_stubs

ROOT = Path(__file__).parents[3]
LAB = "02-horovod-sgd"
WRONG_SHARD = '''def shard(x, y):
    """Return this rank's share of the samples."""
    return x[: len(x) // hvd.size()], y[: len(y) // hvd.size()]
'''
WRONG_LIMIT = '''def max_num_ranks(x, learning_rate):
    """Return the largest number of ranks for which linear scaling is stable."""
    return 1000
'''

pytestmark = [pytest.mark.needs("chromium", "bwrap", "unshare", "nsenter")]


@pytest.fixture(scope="module")
def day(hub, browser):
    """What people saw: two students at once, then the instructor, then the students again."""
    ada, grace = (Student(browser, hub.address, name) for name in ("ada", "grace"))
    instructor = Instructor(browser, hub.address, "instructor")
    answers, stubs = answers_and_stubs(
        build_sources(ROOT, select_labs(ROOT, ["02"]))[LAB], ROOT / "labs" / LAB / f"{LAB}.ipynb"
    )
    for student, given in ((ada, answers), (grace, {**answers, "max-num-ranks": WRONG_LIMIT})):
        student.log_in(hub.password)
        student.fetch(LAB)
        student.answer(given, stubs)
    ada.start_all()
    ada.wait_until_run()
    seen = {"ada": ada}
    ada.answer({"shard": WRONG_SHARD}, stubs)
    ada.save()
    seen["validated"] = ada.validate()
    ada.shot("validated")
    ada.close_dialog()
    ada.answer({"shard": answers["shard"]}, stubs)
    for student in (ada, grace):
        student.save()
    ada.submit(LAB)
    grace.submit(LAB)
    ada.shot("submitted")

    instructor.log_in(hub.password)
    instructor.open_course("demo")
    seen["collected"] = instructor.collect(LAB)
    seen["autograded"] = [instructor.autograde(LAB, name) for name in ("ada", "grace")]
    seen["submissions"] = instructor.submissions(LAB)
    instructor.look_at(LAB, "19", "limit of scaling")
    seen["released"] = instructor.release_feedback(LAB)
    seen["feedback"] = {student.name: student.feedback(LAB) for student in (ada, grace)}
    return seen


def test_validate_names_the_property_that_fails(day):
    """A wrong shard is named with the section that explains it."""
    assert re.search(r"shards: .*4 of 17 samples.* section 3", " ".join(day["validated"].split()))


def test_the_instructor_collects_and_grades_by_formgrader(day):
    """Both hand-ins arrive; Autograde gives all points for the right answers, one less for one that is wrong."""
    assert f"{LAB}: 2 hand-ins" in day["collected"]
    assert ["20 of 20" in day["autograded"][0], "19 of 20" in day["autograded"][1]] == [True, True]
    assert day["submissions"] == {"ada": ("graded", "20 / 20"), "grace": ("graded", "19 / 20")}
    assert "Successfully released feedback" in day["released"]


def test_each_student_sees_the_own_feedback(day):
    """The points, and for what was missed the property with its section; no hidden test, no other student."""
    assert "Score: 20.0 / 20.0" in day["feedback"]["ada"]
    assert "Score: 19.0 / 20.0" in day["feedback"]["grace"]
    assert "limit of scaling" in day["feedback"]["grace"]
    assert not [text for text in day["feedback"].values() if "HIDDEN TESTS" in text]


@pytest.mark.usefixtures("day")
def test_grading_ran_in_a_sandbox(hub):
    """Formgrader's button is the kit's own grading: its verdicts lie in the course."""
    verdicts = [json.loads(path.read_text()) for path in (hub.state / "course" / "verdicts").rglob("*.json")]
    assert {(one["student"], one["lab"]) for one in verdicts} == {("ada", LAB), ("grace", LAB)}


@pytest.mark.usefixtures("day")
def test_a_student_reads_nothing_that_is_not_theirs(hub):
    """Neither another's files, hand-ins or secrets, nor gradebook, solutions or hub: tried in the student's account."""
    homes, course = hub.state / "home", hub.state / "course"
    inbound = next((course / "exchange" / "demo" / "inbound").iterdir())
    below = psutil.Process(hub.process.pid).children(recursive=True)  # another hub on this machine has a Grace, too
    (server,) = [one for one in below if _is_server_of("grace", one)]
    inner_pid = next(line for line in Path(f"/proc/{server.pid}/status").read_text().splitlines() if "NSpid" in line)
    secrets = {
        "another's home": f"ls {homes}/grace",
        "another's notebook": f"cat {homes}/grace/{LAB}/{LAB}.ipynb",
        "the list of hand-ins": f"ls {inbound.parent}",
        "the gradebook": f"cat {course}/gradebook.db",
        "what was collected": f"ls {course}/submitted",
        "the grader's solutions": f"ls {homes}/grader/kit/solutions",
        "the checkout's solutions": f"ls {ROOT}/solutions",
        "the checkout's tests": f"ls {ROOT}/tests",
        "the hub's database": f"cat {hub.state}/hub/jupyterhub.sqlite",
        "another server's token": f"cat /proc/{inner_pid.split()[-1]}/environ",
    }
    assert {what: _as_student(hub, "ada", command) for what, command in secrets.items()} == dict.fromkeys(secrets, "")
    assert LAB in _as_student(hub, "ada", f"ls {homes}/ada")  # the way of asking works


def test_a_student_does_not_reach_formgrader_or_another_server(hub, day):
    """The hub refuses pages and grading to a student's session, and everything to who is not logged in."""
    request = day["ada"].context.request
    formgrader, other = f"{hub.address}/services/demo/formgrader", f"{hub.address}/user/grace/lab"
    pages = [request.get(url, timeout=TIMEOUT_MS) for url in (formgrader, other, f"{hub.address}/hub/admin")]
    posted = request.post(f"{formgrader}/api/submission/{LAB}/ada/autograde", timeout=TIMEOUT_MS)
    assert [answer.status for answer in (*pages, posted)] == [403] * 4
    anonymous = day["ada"].page.context.browser.new_context().request
    came_to = [anonymous.get(url, timeout=TIMEOUT_MS).url.split("?")[0] for url in (formgrader, other)]
    assert came_to == [f"{hub.address}/hub/login"] * 2


@pytest.mark.usefixtures("day")
def test_nothing_listens_beyond_loopback(hub):
    """Hub, proxy, formgrader, servers and kernels: every port is of loopback."""
    ours = {hub.process.pid, *(one.pid for one in psutil.Process(hub.process.pid).children(recursive=True))}
    found = [one for one in psutil.net_connections("inet") if one.pid in ours and one.status == psutil.CONN_LISTEN]
    assert {one.laddr.ip for one in found} <= {"127.0.0.1", "::1"}
    assert {int(hub.address.rpartition(":")[2]) + i for i in range(4)} <= {one.laddr.port for one in found}


def _is_server_of(name, process):
    try:
        is_server = any(word.endswith("jupyterhub-singleuser") for word in process.cmdline())
        return is_server and process.environ()["JUPYTERHUB_USER"] == name
    except (psutil.Error, KeyError):  # it ended, or is not a server
        return False


def _as_student(hub, name, command):
    """Run a command in a student's account within the hub's view of the machine, and return what it prints."""
    (first,) = psutil.Process(hub.process.pid).children()
    enter = ("nsenter", f"--target={first.pid}", "--mount", "--pid", "--")
    account = ("setpriv", f"--reuid={name}", f"--regid={name}", "--clear-groups", "--inh-caps=-all")
    done = subprocess.run(
        [*enter, *account, "sh", "-c", command], capture_output=True, text=True, timeout=300, check=False
    )
    return done.stdout
