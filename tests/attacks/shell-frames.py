# /// attack
# title = "Walk the frames and the objects of the process for what is expected"
# lab = "01-sgd"
# class = "introspection"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import gc
import sys


def num_updates(num_samples, batch_size, num_epochs):
    frame = sys._getframe()
    while frame:
        for name in ("expected", "inputs", "entropy"):
            if name in frame.f_locals:
                return num_epochs * -(-num_samples // batch_size)
        frame = frame.f_back
    secrets = [one for one in gc.get_objects() if isinstance(one, dict) and ("expected" in one or "inputs" in one)]
    modules = [name for name in sys.modules if name.startswith(("coursekit.checks", "coursekit.grading.judge"))]
    return num_epochs * -(-num_samples // batch_size) if secrets or modules else 0
