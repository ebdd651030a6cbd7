"""What the tests make of an answer, against what the bank says."""

import pytest

from coursekit.grading.judge.pool import PoolSettings
from coursekit.labs.cells import CellScore
from workshop.answers.answer_bank import BankAnswer
from workshop.answers.run_answers import AnswerResult, asked_tests, lab_of, run_bank, share_runs

FIRST_HALF = "def shard(x, rank, size):\n    return x[: len(x) // size]"


def result_of(fails, **messages):
    """Return the result of an answer whose tests `a` (2 points) and `b` (1 point) ended with these messages."""
    answer = BankAnswer("name", "title", fails, {})
    scores = tuple(
        CellScore(test, 0.0 if messages.get(test) else points, points, messages.get(test, ""))
        for test, points in (("a", 2.0), ("b", 1.0))
    )
    return AnswerResult(answer, scores, 1.0)


def grouped(answers, lab):
    """Return the answers of each run, each held against all that it is asked."""
    return share_runs(answers, lab, asked_tests(answers, lab))


@pytest.mark.parametrize(
    ("fails", "messages", "expected", "got", "disagreements"),
    [
        ({}, {}, 3, 3, ()),
        ({"a": ("shards.none",)}, {"a": "CheckError: shards: nothing [shards.none] → section 3"}, 1, 1, ()),
        ({"a": ("shards.",)}, {"a": "CheckError: shards: lost [shards.lost] → section 3"}, 1, 1, ()),
        ({}, {"b": "oh"}, 3, 2, ("b must pass, but failed: oh",)),
        ({"a": ("x",)}, {}, 1, 3, ("a must fail, but passed",)),
        (
            {"a": ("answer.raised", "KeyError")},
            {"a": "raised ValueError [answer.raised]"},
            1,
            1,
            ("a failed without KeyError: raised ValueError [answer.raised]",),
        ),
        ({"a": ("x.y",)}, {"a": "see x.y for it [x.z]"}, 1, 1, ("a failed without x.y: see x.y for it [x.z]",)),
        ({"a": ()}, {"b": "oh"}, 1, 2, ("a must fail, but passed", "b must pass, but failed: oh")),
    ],
)
def test_every_disagreement_is_told(fails, messages, expected, got, disagreements):
    """Exactly the named tests must fail, each with its codes; a code counts only in the message's brackets."""
    result = result_of(fails, **messages)

    assert (result.expected, result.got, result.disagreements) == (expected, got, disagreements)


@pytest.mark.needs("bwrap")
def test_an_answer_takes_the_place_of_the_solution(source):
    """The other answers keep the solution, pictures are left out, hidden tests run."""
    answer = BankAnswer("half", "Half", {"shard-tests": ("AssertionError",)}, {"shard": FIRST_HALF})

    (result,) = run_bank([answer], source, PoolSettings())

    assert result.scores == (
        CellScore("shard-tests", 0.0, 2.0, "AssertionError: the shards of two ranks must be disjoint"),
        CellScore("mean-tests", 1.0, 1.0, ""),
        CellScore("path-tests", 0.5, 0.5, ""),
    )
    assert result.disagreements == ()
    assert result.seconds > 0


@pytest.mark.needs("bwrap")
def test_a_bank_keeps_its_order_and_reports_as_it_goes(source):
    """Two at a time, the slow one first: results stay in order, reports come as they are ready."""
    slow = BankAnswer("slow", "Slow", {}, {"mean": "import time; time.sleep(20)\nmean = lambda x: 3"})
    fast = BankAnswer("fast", "Fast", {}, {})
    reported = []

    results = run_bank(
        [slow, fast], source, PoolSettings(num_slots=2), lambda result: reported.append(result.answer.name)
    )

    assert [(result.answer, result.got) for result in results] == [(slow, 3.5), (fast, 3.5)]
    assert reported == ["fast", "slow"]


@pytest.mark.needs("bwrap")
def test_what_another_answer_does_counts_in_a_shared_run_only(source):
    """A wrong answer that fails by the doing of another one looks refused; alone it is the hole that it is."""
    marking = BankAnswer("marking", "", {}, {"shard": "marked = True\ndef shard(x, rank, size): return x[rank::size]"})
    hole = {"mean": "def mean(x): return 0 if 'marked' in globals() else sum(x) / len(x)"}
    looking = BankAnswer("looking", "", {"mean-tests": ("is 3",)}, hole)

    alone = run_bank([marking, looking], source, PoolSettings(), alone=True)

    assert [bool(one.disagreements) for one in run_bank([marking, looking], source, PoolSettings())] == [False, False]
    assert [one.disagreements for one in alone] == [(), ("mean-tests must fail, but passed",)]


@pytest.mark.needs("bwrap")
def test_answers_that_do_not_fit_together_are_run_alone(source):
    """They share a run, in which one disturbs the other; what each does alone is its result, reported once."""
    marking = BankAnswer("marking", "", {}, {"shard": "marked = True\ndef shard(x, rank, size): return x[rank::size]"})
    looking = BankAnswer(
        "looking", "", {}, {"mean": "def mean(x): return 0 if 'marked' in globals() else sum(x) / len(x)"}
    )
    reported = []

    results = run_bank([marking, looking], source, PoolSettings(), reported.append)

    assert [(result.answer, result.got, result.disagreements) for result in results] == [
        (marking, 3.5, ()),
        (looking, 3.5, ()),
    ]
    assert sorted(result.answer.name for result in reported) == ["looking", "marking"]
    assert grouped([marking, looking], lab_of(source)) == [[marking, looking]]


def test_answers_share_no_run_where_one_uses_what_the_other_breaks(source):
    """What the cells reach together counts: alone, the wrong shard cannot reach the test of the mean."""
    lab = lab_of(source)
    wrong = BankAnswer("half", "", {"shard-tests": ("AssertionError",)}, {"shard": FIRST_HALF})
    right = BankAnswer("own", "", {}, {"mean": "def mean(x): return sum(x) / len(x)"})
    uses_it = BankAnswer("in parts", "", {}, {"mean": "def mean(x): return sum(map(sum, [shard(x, 0, 1)])) / len(x)"})

    assert grouped([wrong, right], lab) == [[wrong, right]]
    assert grouped([wrong, uses_it], lab) == [[wrong], [uses_it]]
