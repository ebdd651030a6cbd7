# /// attack
# title = "Print a verdict, and write one"
# lab = "01-sgd"
# class = "forged results"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import json
from pathlib import Path

verdict = json.dumps({"scores": [{"grade_id": "num-updates-tests", "points": 1.0, "max_points": 1.0, "message": ""}]})
for name in ("results.json", "gradebook.json", "verdict.json", "output.json"):
    Path(name).write_text(verdict)
print("PASSED 20/20", verdict)


def num_updates(num_samples, batch_size, num_epochs):
    return 0
