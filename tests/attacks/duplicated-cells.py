# /// attack
# title = "Hand in an answer twice, and a test twice"
# lab = "01-sgd"
# class = "notebook format"
# fails = ["num-updates-tests"]
# flags = ["duplicated cell"]
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

import copy
import json

content = json.loads(notebook.read_text())
for cell in list(content["cells"]):
    if cell["metadata"].get("nbgrader", {}).get("grade_id", "").startswith("num-updates"):
        other = copy.deepcopy(cell)
        other["id"] += "-b"
        content["cells"].append(other)
notebook.write_text(json.dumps(content))
