# /// attack
# title = "Read the solution from the course and run it"
# lab = "01-sgd"
# class = "grader store"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import json
from pathlib import Path


def num_updates(num_samples, batch_size, num_epochs):
    return 0


for path in [*Path("../../..").glob("source/*/*.ipynb"), *Path("@COURSE@").glob("source/*/*.ipynb")]:
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        if "def num_updates" in text:
            exec(text)
