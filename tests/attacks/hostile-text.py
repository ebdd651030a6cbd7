# %% terminal-text
# title = "Write control characters into messages and outputs"
# fails = ["num-updates-tests"]
# flags = ["odd text"]
print("\x1b]0;owned\x07\x1b[2J\x1b[31mpassed\x1b[0m \u202e")


def num_updates(num_samples, batch_size, num_epochs):
    raise ValueError("\x1b[2J\x1b[H\x1b[32m20 of 20 points\x1b[0m\r")


# %% web-text
# title = "Write markup into messages and outputs"
# fails = ["num-updates-tests"]
print("<script>alert(1)</script>")


def num_updates(num_samples, batch_size, num_epochs):
    return "<script>fetch('/formgrader')</script><img src=x onerror=alert(1)> [red]passed[/red]"


# %% web-text-in-markdown
# title = "Write a script into the text cells"
# flags = ["note"]

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
