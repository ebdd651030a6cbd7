"""`make test-quick`: what needs nothing but a compiler and little time, and a word on what it leaves out."""

from collections import Counter

import pytest

from .side_by_side import is_long

LEFT_OUT = pytest.StashKey[Counter]()


def pytest_addoption(parser):
    """Add the option."""
    parser.addoption("--quick", action="store_true", help="leave out tests that need other programs, and long files")


def pytest_configure(config):
    """Begin to count what is left out."""
    config.stash[LEFT_OUT] = Counter()


@pytest.hookimpl(trylast=True)  # folders mark tests, too
def pytest_collection_modifyitems(config, items):
    """Leave tests out, and count them by reason."""
    if not config.option.quick:
        return
    kept = []
    for item in items:
        programs = {program for marker in item.iter_markers("needs") for program in marker.args}
        if programs or is_long(item.nodeid):
            reason = f"need {', '.join(sorted(programs))}" if programs else f"of {item.nodeid.partition('::')[0]}: long"
            config.stash[LEFT_OUT][reason] += 1
        else:
            kept.append(item)
    items[:] = kept
    if hasattr(config, "workeroutput"):
        config.workeroutput["left out"] = dict(config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take the counts from a worker: all have the same."""
    node.config.stash[LEFT_OUT] = Counter(getattr(node, "workeroutput", {}).get("left out", {}))


def pytest_terminal_summary(terminalreporter, config):
    """Say what was left out."""
    left_out = config.stash[LEFT_OUT]
    if left_out:
        terminalreporter.section(f"left out: {sum(left_out.values())} tests, which `make test` runs")
        for reason, num_tests in left_out.most_common():
            terminalreporter.line(f"{num_tests:6} {reason}")
