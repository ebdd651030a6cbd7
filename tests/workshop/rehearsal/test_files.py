"""The ports of a rehearsal: free, each once, and none that the kernel gives to a stranger meanwhile."""

from types import SimpleNamespace

import pytest

from workshop.rehearsal import files

SHAPE = SimpleNamespace(all_nodes=("node-1", "node-2"))


@pytest.mark.parametrize(
    ("given", "lowest", "highest"),
    [("32768\t60999\n", 10_000, 32_767), ("1024\t65535\n", 10_000, 65_535)],
    ids=["as Linux comes", "a machine that hands out nearly all"],
)
def test_ports_lie_below_those_that_the_kernel_hands_out(tmp_path, monkeypatch, given, lowest, highest):
    """Where there are any below; else any free ones do. Two rehearsals keep apart, also before their daemons listen."""
    (tmp_path / "range").write_text(given)
    monkeypatch.setattr(files, "PORTS_GIVEN", tmp_path / "range")

    (ports, block), (others, other_block) = (files.hold_ports(SHAPE) for _ in range(2))
    with block, other_block:
        assert abs(others.slurmctld - ports.slurmctld) >= files.PORTS_PER_BLOCK

    found = [ports.slurmctld, ports.slurmdbd, *ports.slurmd.values()]
    assert list(ports.slurmd) == ["node-1", "node-2"]
    assert len(set(found)) == 4
    assert lowest <= min(found) <= max(found) <= highest
