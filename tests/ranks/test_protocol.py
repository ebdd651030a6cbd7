"""The protocol of a run: what a rank may send back."""

import pytest

from coursekit.ranks.protocol import Report


@pytest.mark.parametrize("report", [Report(value=b"a\nb"), Report(value=b""), Report(None, "KeyError", "'x'", "…")])
def test_a_report_comes_back_as_it_was(report):
    """Results of any bytes, and errors in any words."""
    assert Report.loads(report.dumps()) == report


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"null\n", b'[1, "", "", ""]\n', b'[true, "", ""]\nx', b"[" * 100_000),
        b'[false, "", "", ""]\n',  # neither a result nor an error
        b'[true, "KeyError", "", ""]\nx',  # both
    ],
)
def test_other_bytes_are_no_report(data):
    """A student's code shares the rank's process and can write anything into its channel."""
    with pytest.raises(ValueError):  # noqa: PT011  # whatever json says
        Report.loads(data)
