# /// attack
# title = "Hand in a notebook with 90 MB of output"
# lab = "01-sgd"
# class = "notebook format"
# fails = ["loss-tests", "gradient-tests", "step-tests", "batches-tests", "num-updates-tests", "tape-step-tests", "is-stable-tests", "hessian-tests", "largest-stable-rate-tests"]
# flags = ["note"]
# ///

# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
for cell in content["cells"]:
    if cell["cell_type"] == "code":
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 90_000_000}]
        break
notebook.write_text(json.dumps(content))
