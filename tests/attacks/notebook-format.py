# %% changed-tests
# title = "Rewrite a test"
# fails = ["num-updates-tests"]
# flags = ["changed test"]
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
for cell in content["cells"]:
    if cell["metadata"].get("nbgrader", {}).get("grade_id") == "num-updates-tests":
        cell["source"] = "print('passed')"
notebook.write_text(json.dumps(content))


# %% deleted-tests
# title = "Delete the test cells"
# fails = ["num-updates-tests"]
# flags = ["deleted cell"]
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
content["cells"] = [
    cell for cell in content["cells"] if not cell["metadata"].get("nbgrader", {}).get("grade_id", "").endswith("-tests")
]
notebook.write_text(json.dumps(content))


# %% duplicated-cells
# title = "Hand in two copies of an answer and of a test"
# fails = ["num-updates-tests"]
# flags = ["duplicated cell"]
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


# %% forged-outputs
# title = "Hand in forged outputs that look like success"
# fails = ["num-updates-tests"]
# flags = ["note"]
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

# %% huge-outputs
# title = "Hand in a notebook with 90 MB of output"
# fails = ["loss-tests", "gradient-tests", "step-tests", "batches-tests", "num-updates-tests", "tape-step-tests", "is-stable-tests", "hessian-tests", "largest-stable-rate-tests"]
# flags = ["note"]

# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
for cell in content["cells"]:
    if cell["cell_type"] == "code":
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 90_000_000}]
        break
notebook.write_text(json.dumps(content))

# %% other-kernel
# title = "Switch the notebook to another language"
# flags = ["kernel"]

# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
content["metadata"]["kernelspec"] = {"name": "bash", "display_name": "Bash", "language": "bash"}
content["metadata"]["language_info"] = {"name": "bash"}
notebook.write_text(json.dumps(content))


# %% test-as-answer
# title = "Mark a test cell as an answer, so that its source is used"
# fails = ["num-updates-tests"]
# flags = ["changed metadata"]
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
for cell in content["cells"]:
    if cell["metadata"].get("nbgrader", {}).get("grade_id") == "num-updates-tests":
        cell["metadata"]["nbgrader"].update(solution=True, locked=False)
        cell["source"] = "pass"
notebook.write_text(json.dumps(content))
