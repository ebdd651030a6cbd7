"""The recipe of the image keeps up with the checkout: nothing builds it in the tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "containers/Containerfile").read_text()
FOR_MAKE_ENV = ("to make the environment", "Horovod with MPI", "students' code in a sandbox")


def test_it_installs_what_ci_makes_the_environment_with():
    """Debian's packages for compilers, Python, MPI and the sandbox are those of the continuous integration."""
    rows = re.findall(r"^    ([a-z][\w .+-]*?) +# (.*)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    wanted = {name for names, what in rows if what in FOR_MAKE_ENV for name in names.split()}

    assert len(wanted) >= len(FOR_MAKE_ENV)
    assert wanted <= set(RECIPE.split())


def test_what_it_copies_is_there():
    """Each file and folder that it takes from the checkout."""
    sources = [word for line in re.findall("^COPY (.*)$", RECIPE, re.MULTILINE) for word in line.split()[:-1]]

    assert sources
    assert [name for name in sources if not (ROOT / name).exists()] == []
