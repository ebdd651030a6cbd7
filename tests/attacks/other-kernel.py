# /// attack
# title = "Switch the notebook to another language"
# lab = "01-sgd"
# class = "notebook format"
# fails = []
# flags = ["kernel"]
# ///

# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
content["metadata"]["kernelspec"] = {"name": "bash", "display_name": "Bash", "language": "bash"}
content["metadata"]["language_info"] = {"name": "bash"}
notebook.write_text(json.dumps(content))
