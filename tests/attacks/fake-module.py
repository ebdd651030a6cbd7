# /// attack
# title = "Put a module of its own where the checks are imported from"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import sys
from types import ModuleType

fake = ModuleType("coursekit.checks.lab01_linear")
fake.check_num_updates = lambda *args, **kwargs: None
sys.modules["coursekit.checks.lab01_linear"] = fake
try:
    lab01_linear.check_num_updates = fake.check_num_updates
except NameError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0
