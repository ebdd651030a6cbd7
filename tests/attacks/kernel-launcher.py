# /// attack
# title = "Ship a file that runs instead of the kernel"
# lab = "01-sgd"
# class = "shadow modules"
# fails = ["num-updates-tests"]
# flags = ["files"]
# ///

# %% role="answer" id="num-updates"
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
