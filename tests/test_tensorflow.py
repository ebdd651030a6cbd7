"""Whatever imports the package has Keras 2 as `tf.keras`, or is told why not, and a quiet TensorFlow when asked."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import coursekit
from coursekit.errors import codes_in

ASK_TENSORFLOW = "import coursekit, tensorflow as tf; print(hasattr(tf.keras, '__version__'))"  # Keras 3 alone has it
SHOW = "import os; print(os.environ.get('TF_USE_LEGACY_KERAS'))"


def run(program, value, **environ):
    """Run a program of Python's where the variable has this value, or none; return its last lines."""
    around = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", **environ}
    around.pop("TF_USE_LEGACY_KERAS", None)
    if value is not None:
        around["TF_USE_LEGACY_KERAS"] = value
    done = subprocess.run([sys.executable, "-c", program], env=around, capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.stderr.strip().rpartition("\n")[2]


@pytest.mark.parametrize("value", [None, "0", "1"])
def test_tensorflow_comes_with_keras_2_whatever_the_environment_says(value):
    """TensorFlow 2.15 would look for tf_keras where the variable is set, a later one take Keras 3 where it is not."""
    assert run(ASK_TENSORFLOW, value)[0] == "False"


def test_no_garbage_is_looked_for_in_what_an_import_makes():
    """Nor at the end of the process; what is made afterwards is looked through as ever."""
    ask = "import gc, coursekit, tensorflow; print(gc.isenabled(), gc.get_freeze_count() > 100 * len(gc.get_objects()))"
    assert run(ask, None)[0] == "True True"


@pytest.fixture
def made_packages(tmp_path):
    """Return a function that makes stand-ins for TensorFlow, with this source, and for Keras, of version 2 or 3."""

    def make(keras, source=""):
        (tmp_path / "tensorflow.py").write_text(source)
        folder = tmp_path / "keras" / ("api/_v2" if keras == 2 else "_tf_keras")
        folder.mkdir(parents=True)
        (tmp_path / "keras" / "__init__.py").touch()
        return str(tmp_path)

    return make


@pytest.mark.parametrize(
    ("keras", "first", "before", "after"),
    [
        (2, "coursekit", "1", "None"),
        (2, "tensorflow", None, "None"),
        (3, "coursekit", None, "1"),
        (3, "coursekit", "0", "1"),
        (3, "tensorflow", "True", "1"),
    ],
)
def test_the_variable_is_what_the_installed_keras_needs(made_packages, keras, first, before, after):
    """With Keras 2 there is none; with Keras 3 it is set, unless TensorFlow has read it already and is right."""
    assert run(f"import {first}, coursekit; {SHOW}", before, PYTHONPATH=made_packages(keras)) == (after, "")


@pytest.mark.parametrize("value", [None, "0"])
def test_who_has_keras_3_already_is_told_what_to_do(made_packages, value):
    """A notebook or script that imports TensorFlow first hears so at once, and not from a broken training."""
    said = run("import tensorflow, coursekit", value, PYTHONPATH=made_packages(3))
    assert codes_in(said[1]) == ["keras.version"]


# Prints the files of the hwloc functions that a library gets which is loaded now.
ASK_HWLOC = """
import ctypes, coursekit, horovod.tensorflow
for name in ("hwloc_topology_init", "hwloc_get_cpubind"):
    address = ctypes.cast(ctypes.CDLL(None)[name], ctypes.c_void_p).value
    for line in open("/proc/self/maps"):
        first, end = (int(part, 16) for part in line.split()[0].split("-"))
        if first <= address < end:
            print(line.split("/")[-1].split(".so")[0])
"""


@pytest.mark.needs("mpicc")
def test_what_mpi_has_started_calls_its_own_hwloc():
    """TensorFlow 2.21 exports the functions of an older one, and Open MPI took those; 2.15 hides them."""
    assert run(ASK_HWLOC, None, PMIX_RANK="0")[0].splitlines() == ["libhwloc", "libhwloc"]


LOGGED = (
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
    "I0000 00:00:1795660238.127695   18679 port.cc:153] oneDNN custom operations are on.\n"
)
OTHER = "ImportWarning: IPv6 is off\n"


@pytest.mark.parametrize(("level", "end", "said"), [("0", "", LOGGED + OTHER), ("2", "", OTHER), ("2", "1 / 0", OTHER)])
def test_tensorflow_logs_nothing_on_import_that_its_level_leaves_out(made_packages, level, end, said):
    """TensorFlow 2.21 logs what it is told not to; everything else is shown, also where the import fails."""
    made = made_packages(3, f"import os\nos.write(2, {(LOGGED + OTHER).encode()})\n{end}")
    environ = {**os.environ, "PYTHONPATH": made, "TF_CPP_MIN_LOG_LEVEL": level}
    command = [sys.executable, "-c", "import coursekit, tensorflow"]
    shown = subprocess.run(command, env=environ, stderr=subprocess.PIPE, text=True, check=False).stderr
    assert shown.partition("Traceback")[0] == said
    assert ("ZeroDivisionError" in shown) == bool(end)


ASK_HOROVOD = """
import coursekit, horovod.tensorflow.keras as hvd, tensorflow as tf
print([module.K is tf.keras.backend for module in (hvd, hvd.callbacks)], "AS RELEASED" in open(hvd.__file__).read())
"""


def test_horovod_as_released_takes_the_same_keras(tmp_path):
    """Where Horovod takes its backend from the package keras, as a site's may, it gets that of `tf.keras`."""
    installed = Path(find_spec("horovod").origin).parent
    changed = installed / "tensorflow" / "keras"
    for folder in (installed, installed / "tensorflow", changed):
        made = tmp_path / "horovod" / folder.relative_to(installed)
        made.mkdir()
        for path in folder.iterdir():
            if path not in {installed / "tensorflow", changed}:
                (made / path.name).symlink_to(path)
    for name in ("__init__.py", "callbacks.py"):
        made = tmp_path / "horovod" / "tensorflow" / "keras" / name
        made.unlink()
        released = "from keras import backend as K  # AS RELEASED"
        made.write_text((changed / name).read_text().replace("K = keras.backend", released))

    told = run(ASK_HOROVOD, None, PYTHONPATH=str(tmp_path))[0]
    is_mended = coursekit.KERAS == "tf_keras"  # with Keras 2 in the package nothing is changed
    assert told == f"[{is_mended}, {is_mended}] {is_mended}"
