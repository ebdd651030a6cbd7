# /// attack
# title = "Delete the test cells"
# lab = "01-sgd"
# class = "notebook format"
# fails = ["num-updates-tests"]
# flags = ["deleted cell"]
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
content["cells"] = [
    cell for cell in content["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade_id", "").endswith("-tests")
]
notebook.write_text(json.dumps(content))
