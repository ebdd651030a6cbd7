"""The link's parts arrive at nbgitpuller as they were meant, and what is not an address is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from coursekit.errors import CourseKitError
from coursekit.jupyter.link import folder_name, pull_link

COURSEKIT = Path(sys.executable).with_name("coursekit")
ROOT = Path(__file__).parents[3]
HUB, REPO = "https://hub.example.org", "https://git.example.org/course"


@pytest.mark.parametrize(
    ("hub", "address"),
    [
        (HUB, f"{HUB}/hub/user-redirect/git-pull"),
        (f"{HUB}/", f"{HUB}/hub/user-redirect/git-pull"),
        (f"{HUB}:8443/a%20b/", f"{HUB}:8443/a%20b/hub/user-redirect/git-pull"),
        (f"{HUB}/jupyter/hub/home?x=1#y", f"{HUB}/jupyter/hub/user-redirect/git-pull"),
        (f"{HUB}/user/ada/lab/tree/labs", f"{HUB}/hub/user-redirect/git-pull"),
    ],
)
def test_link_leads_to_the_hub(hub, address):
    """From any page of the hub, the link leads to the server of whoever clicks it."""
    assert pull_link(hub, REPO).partition("?")[0] == address


@pytest.mark.parametrize(
    ("repository", "branch", "lab", "folder", "opened"),
    [
        (REPO, "main", None, "course", "labs"),
        (f"{REPO}.git", "main", "02-horovod-sgd", "course", "labs/02-horovod-sgd/02-horovod-sgd.ipynb"),
        (f"{REPO}/", "event/2026", None, "course", "labs"),
        ("https://git.example.org/a&b=c%20d+e?x=1&y=2#z", "c++#1", None, "a-b-c-d-e", "labs"),
        ("ssh://git@git.example.org:22/größe.git", "main", None, "gr-e", "labs"),
        ("git://127.0.0.1:9418/..", "main", None, "course", "labs"),
    ],
)
def test_query_is_read_back_as_it_was_given(repository, branch, lab, folder, opened):
    """Whatever characters there are, a server reads the repository, the branch and plain places from the query."""
    link = pull_link(HUB, repository, branch, lab)

    assert link.isascii()
    assert " " not in link
    assert dict(parse_qsl(urlsplit(link).query, strict_parsing=True)) == {
        "repo": repository,
        "branch": branch,
        "targetpath": folder,
        "urlpath": f"lab/tree/{folder}/{opened}",
    }
    assert folder_name(repository) == folder


@pytest.mark.parametrize(
    "address", ["hub.example.org", "", "https://", "https://a b", "ftp://x.org", "https://x:y", "C:\\x"]
)
def test_no_address_is_refused(address):
    """One sentence names the option, what was given, and an example."""
    with pytest.raises(CourseKitError) as of_hub:
        pull_link(address, REPO)
    with pytest.raises(CourseKitError) as of_repo:
        pull_link(HUB, address)

    assert [str(of_hub.value), str(of_repo.value)] == [
        f"--hub: {address!r} is not an address: give one such as https://hub.example.org.",
        f"--repo: {address!r} is not an address: give one such as https://git.example.org/course.",
    ]


def test_address_of_scp_is_refused():
    """What only git takes for an address is none."""
    with pytest.raises(CourseKitError, match=r"^--repo: 'git@git\.example\.org:course' is not an address: "):
        pull_link(HUB, "git@git.example.org:course")


def test_password_is_refused():
    """A link that everybody reads holds no password."""
    with pytest.raises(
        CourseKitError, match=r"^--repo: there is a password in the address, and everybody reads a link"
    ):
        pull_link(HUB, "https://me:secret@git.example.org/course")


@pytest.mark.parametrize("branch", ["", "-b", "a b", "a..b", "a/", "x.lock", "a~1"])
def test_no_branch_is_refused(branch):
    """What git refuses as a branch is refused here."""
    with pytest.raises(CourseKitError, match=r"^--branch: .* is not a name of a branch: give one such as main\.$"):
        pull_link(HUB, REPO, branch)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["02"], (0, pull_link(HUB, REPO, "main", "02-horovod-sgd") + "\n", "")),
        (["--branch", "event"], (0, pull_link(HUB, REPO, "event") + "\n", "")),
        (
            ["--repo", "course"],
            (
                1,
                "",
                "coursekit: --repo: 'course' is not an address: give one such as https://git.example.org/course.\n",
            ),
        ),
    ],
)
def test_command_prints_the_link_alone(words, said):
    """`coursekit link` takes a lab's prefix and prints a line; a mistake ends in a sentence."""
    command = [COURSEKIT, "link", "--hub", HUB, "--repo", REPO, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)

    assert (done.returncode, done.stdout, done.stderr) == said
