# /// attack
# title = "Rewrite the test"
# lab = "01-sgd"
# class = "notebook format"
# fails = ["num-updates-tests"]
# flags = ["changed test"]
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
for cell in content["cells"]:
    if cell["metadata"].get("nbgrader", {}).get("grade_id") == "num-updates-tests":
        cell["source"] = "print('passed')"
notebook.write_text(json.dumps(content))
