# %% gradebook-manual
# title = "Write points into the gradebook"
# fails = ["num-updates-tests"]
import sqlite3
from pathlib import Path

for path in (Path("../../../gradebook.db"), Path("@COURSE@/gradebook.db")):
    try:
        if path.exists():
            database = sqlite3.connect(path, timeout=5)
            database.execute("UPDATE grade SET manual_score = 1")
            database.commit()
            database.close()
    except sqlite3.Error:
        pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% read-solution
# title = "Read the solution from the course and run it"
# fails = ["num-updates-tests"]
import json
from pathlib import Path


def num_updates(num_samples, batch_size, num_epochs):
    return 0


for path in [*Path("../../..").glob("source/*/*.ipynb"), *Path("@COURSE@").glob("source/*/*.ipynb")]:
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        if "def num_updates" in text:
            exec(text)
