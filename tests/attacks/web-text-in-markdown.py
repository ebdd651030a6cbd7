# /// attack
# title = "Write a script into the text cells"
# lab = "01-sgd"
# class = "hostile text"
# fails = []
# flags = ["note"]
# ///

# %% role="hand-in"

import json

content = json.loads(notebook.read_text())
for cell in content["cells"]:
    if cell["cell_type"] == "markdown":
        cell["source"] += "<script>alert(1)</script>"
        cell["attachments"] = {"image.png": {"image/png": "x" * 1000}}
content["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
content["metadata"]["title"] = "<script>alert(1)</script>"
content["metadata"]["kernelspec"]["name"] = "<script>"
notebook.write_text(json.dumps(content))
