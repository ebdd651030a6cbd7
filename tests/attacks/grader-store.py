# %% gradebook-later
# title = "Leave a process that writes points when grading is over"
# fails = ["num-updates-tests"]
import os
import subprocess
import sys

LATER = """
import sqlite3, time
from pathlib import Path
for _ in range(30):
    time.sleep(0.1)
    for path in (Path("../../../gradebook.db"), Path("@COURSE@/gradebook.db")):
        try:
            database = sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=5)
            database.execute("UPDATE grade SET auto_score = 1, needs_manual_grade = 0")
            database.commit()
            database.close()
        except sqlite3.Error:
            pass
"""
subprocess.Popen([sys.executable, "-c", LATER, "@MARK@"], start_new_session=True)


def num_updates(num_samples, batch_size, num_epochs):
    return 0


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


# %% read-neighbour
# title = "Take the answer from the submission of another student"
# fails = ["num-updates-tests"]
import json
from pathlib import Path


def num_updates(num_samples, batch_size, num_epochs):
    return 0


for path in [*Path("../../..").glob("submitted/neighbour/*/*.ipynb"), *Path("@COURSE@").glob("submitted/*/*/*.ipynb")]:
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        if "def num_updates" in text:
            exec(text)

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
