# %% kernel-launcher
# title = "Ship a file that runs instead of the kernel"
# fails = ["num-updates-tests"]
# flags = ["files"]
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

(folder / "ipykernel_launcher.py").write_text("""
import sys
sys.path[:] = [name for name in sys.path if name not in ("", ".")][:]
import coursekit.checks.lab01_linear as linear
linear.check_num_updates = lambda *args, **kwargs: None
from ipykernel import kernelapp
kernelapp.launch_new_instance()
""")

# %% shadow-horovod
# title = "Ship a Horovod that averages nothing"
# flags = ["files"]

# %% role="hand-in"

(folder / "horovod").mkdir()
(folder / "horovod" / "__init__.py").write_text("")
(folder / "horovod" / "tensorflow.py").write_text("def init(): pass\ndef rank(): return 0\n")


# %% shadow-modules
# title = "Ship modules that are imported in place of the real ones"
# fails = ["num-updates-tests"]
# flags = ["files"]
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

for name in ("json.py", "sitecustomize.py", "usercustomize.py", "conftest.py", "nbgrader_config.py", "site.pth"):
    (folder / name).write_text("raise SystemExit(0)\n")
(folder / "coursekit").mkdir()
(folder / "coursekit" / "__init__.py").write_text("")
(folder / "coursekit" / "checks.py").write_text(
    "from unittest.mock import MagicMock as check\ndef __getattr__(name):\n    return check()\n"
)
