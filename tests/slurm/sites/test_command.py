"""`coursekit sites` lists and shows machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import pytest
from click.testing import CliRunner

from coursekit.cli import cli


@pytest.fixture
def sites(checkout, monkeypatch):
    """Return a function that runs `coursekit sites` in a checkout with one site and returns what it prints."""
    monkeypatch.setenv("COURSEKIT_ROOT", str(checkout.root))

    def run(*words: str) -> str:
        return CliRunner().invoke(cli, ["sites", *words], catch_exceptions=False).output

    return run


def texts(value):
    """Yield every text and number of a part of a machine's file, but those that only programs read."""
    if is_dataclass(value):
        for one in fields(value):
            if one.name not in {"name", "requested", "features", "shares_nodes_with", "gpu_request", "shell", "venv"}:
                yield from texts(getattr(value, one.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (key, *texts(inner))
    elif isinstance(value, tuple):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


def test_a_site_is_shown_with_all_that_its_file_says(sites, checkout):
    """What jobs cost, what is in doubt, and how a whole node is asked for, too."""
    shown = sites("show", "nautilus")
    expected = [
        *texts(checkout.load()),
        *(
            "jupyter: at most 2 GPU hours for a student (2 GPUs for 1 h), 60 GPU hours for a class of 30",
            "32 CPUs, 256 GB",
        ),
        "--partition=abyss --constraint=cold&dark --gres=gpu:4 --ntasks-per-node=4 --cpus-per-task=8",
        *("20 nodes", "24 h; 1 h 30 min", "dive: 10 h", "srun --mpi=pmix python train.py"),
    ]
    assert [one for one in expected if one not in shown] == []


def test_what_is_not_known_of_a_node_is_said(sites, checkout):
    """An empty processor or fabric is shown as such, not left out."""
    before = sites("show", "nautilus").count("not known")
    text = checkout.file.read_text(encoding="utf-8").replace('"2 x Squid"', '""').replace('"Currents"', '""')
    checkout.file.write_text(text, encoding="utf-8")

    assert sites("show", "nautilus").count("not known") == before + 4  # of each partition both


def test_sites_are_listed_with_their_partitions(sites, checkout):
    """Title and status, and below them the GPUs of each partition."""
    twin = checkout.file.read_text(encoding="utf-8").replace("current", "retired").replace("Nautilus", "Argonaut")
    checkout.file.with_name("argonaut.toml").write_text(twin, encoding="utf-8")

    _, _, *rows = [line.split() for line in sites().splitlines() if line.strip()]

    assert rows == [
        ["argonaut", "Argonaut,", "Vulcania", "retired"],
        ["deep", "(default)", "4", "x", "Kraken", "8"],
        ["test", "4", "x", "Kraken", "8"],
        ["nautilus", "Nautilus,", "Vulcania", "current"],
        ["deep", "(default)", "4", "x", "Kraken", "8"],
        ["test", "4", "x", "Kraken", "8"],
    ]
