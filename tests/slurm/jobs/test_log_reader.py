"""A log is read as it grows, whatever a parallel file system and Slurm do to it."""

from __future__ import annotations

from coursekit.slurm.jobs.follow import LogReader


def test_what_is_new_is_read_once(tmp_path):
    """A log that is not there yet reads as nothing, and a letter that was written in halves as one."""
    path = tmp_path / "job.out"
    reader = LogReader(path)
    assert reader.read() == ""
    path.write_bytes(b"first\nf")
    assert reader.read() == "first\nf"
    assert reader.read() == ""
    letter = "ü".encode()
    with path.open("ab") as log:
        log.write(letter[:1])
        log.flush()
        assert reader.read() == ""
        log.write(letter[1:] + b"r\n")
    assert reader.read() == "ür\n"


def test_a_log_that_begins_again_is_read_from_its_beginning(tmp_path):
    """A requeued job without --open-mode=append starts its log anew."""
    path = tmp_path / "job.out"
    reader = LogReader(path)
    path.write_text("the first start\n")
    assert reader.read() == "the first start\n"
    path.write_text("again\n")
    assert reader.read() == "again\n"
    path.unlink()
    assert reader.read() == ""
