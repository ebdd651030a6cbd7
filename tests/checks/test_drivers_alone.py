"""Drivers run where nothing of the judge exists."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

from coursekit import drivers

WITHOUT_CHECKS = """
import importlib, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("coursekit.checks"):
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
for name in sys.argv[1:]:
    importlib.import_module(f"coursekit.drivers.{name}")
assert "tensorflow" not in sys.modules
print("imported", len(sys.argv) - 1)
"""


def test_drivers_need_no_checks_and_import_no_tensorflow():
    """Every driver can be imported with `coursekit.checks` out of reach, and imports TensorFlow only when called."""
    names = [module.name for module in pkgutil.iter_modules(drivers.__path__)]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_CHECKS, *names], capture_output=True, text=True, timeout=900, check=False
    )

    assert (done.stdout, done.stderr) == (f"imported {len(names)}\n", "")
    assert {"spy", "keras_ranks", "estimator_ranks", "calls", "places"} <= set(names)
