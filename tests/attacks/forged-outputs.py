# /// attack
# title = "Hand in outputs that say that all is well"
# lab = "01-sgd"
# class = "notebook format"
# fails = ["num-updates-tests"]
# flags = ["note"]
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
for cell in content["cells"]:
    if cell["cell_type"] == "code":
        data = {"text/plain": "20", "text/html": "<script>alert(1)</script>"}
        cell["outputs"] = [{"output_type": "execute_result", "execution_count": 1, "data": data, "metadata": {}}]
    elif cell["cell_type"] == "markdown":
        cell["metadata"].pop("nbgrader", None)
        cell["source"] = ""
content["metadata"]["kernelspec"]["name"] = "other"
notebook.write_text(json.dumps(content))
