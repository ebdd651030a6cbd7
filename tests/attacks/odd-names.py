# /// attack
# title = "Hand in files with odd names, pipes and deep folders"
# lab = "01-sgd"
# class = "archive tricks"
# fails = []
# flags = ["files"]
# ///

# %% role="hand-in"

import os

for name in ("a\nb.txt", "-rf", "$(touch @MARK@).txt", "..txt;id", "\x1b[2J.txt"):
    (folder / name).write_text("x")
os.mkfifo(folder / "pipe.ipynb")
deep = folder.joinpath(*["d"] * 20)
deep.mkdir(parents=True)
