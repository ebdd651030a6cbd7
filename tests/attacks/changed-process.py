# /// attack
# title = "Change the process, the environment and the modules for the next submission"
# lab = "01-sgd"
# class = "persistence"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

import os
import sys
from types import ModuleType

os.environ["@MARK@"] = "1"
sys.modules["@MARK@"] = ModuleType("@MARK@")
sys.path.insert(0, "/tmp/@MARK@")
np.mark = "@MARK@"


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
