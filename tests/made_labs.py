"""Labs that tests write on the spot."""

LAB_TOML = """
title = "{title}"
summary = "For tests."
minutes = 5
objectives = ["See what tests see."]
[resources]
num_ranks = 1
memory_gb = 1
time_limit_min = 1
[small_run]
{small_run}
"""


def add_lab(root, name, source, *, title="A small lab", small_run=""):
    """Write a lab's sources into a checkout, which is made if it is missing."""
    folder = root / "solutions" / name
    folder.mkdir(parents=True, exist_ok=True)
    (root / "pyproject.toml").touch()
    (folder / "lab.toml").write_text(LAB_TOML.format(title=title, small_run=small_run), encoding="utf-8")
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
