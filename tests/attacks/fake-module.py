# /// attack
# title = "Put a module of its own where the checks are imported from"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = ["imports"]
# ///

# %% role="answer" id="num-updates"

import sys
from types import ModuleType

fake = ModuleType("coursekit.checks.linear")
fake.check_num_updates = lambda *args, **kwargs: None
sys.modules["coursekit.checks.linear"] = fake
try:
    linear.check_num_updates = fake.check_num_updates
except NameError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0
