# /// attack
# title = "Claim a hundred points in the metadata"
# lab = "01-sgd"
# class = "notebook format"
# fails = ["num-updates-tests"]
# flags = ["changed metadata"]
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
for cell in content["cells"]:
    if "points" in cell["metadata"].get("nbgrader", {}):
        cell["metadata"]["nbgrader"]["points"] = 100
notebook.write_text(json.dumps(content))
