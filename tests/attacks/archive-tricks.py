# %% link-to-a-neighbour
# title = "Hand in a link to another student's notebook"
# fails = ["loss-tests", "gradient-tests", "step-tests", "batches-tests", "num-updates-tests", "tape-step-tests", "is-stable-tests", "hessian-tests", "largest-stable-rate-tests"]
# flags = ["files"]

# %% role="hand-in"

notebook.unlink()
notebook.symlink_to(next(course.glob("submitted/neighbour/*/*.ipynb")))

# %% many-files
# title = "Hand in three thousand files"
# flags = ["files"]

# %% role="hand-in"

(folder / "more").mkdir()
for number in range(3000):
    (folder / "more" / f"{number}.txt").touch()

# %% odd-names
# title = "Hand in files with odd names, pipes and deep folders"
# flags = ["files"]

# %% role="hand-in"

import os

for name in ("a\nb.txt", "-rf", "$(touch @MARK@).txt", "..txt;id", "\x1b[2J.txt"):
    (folder / name).write_text("x")
os.mkfifo(folder / "pipe.ipynb")
deep = folder.joinpath(*["d"] * 20)
deep.mkdir(parents=True)

# %% symbolic-link
# title = "Hand in a link to a system file"
# flags = ["files"]

# %% role="hand-in"

(folder / "data.txt").symlink_to("/etc/passwd")
(folder / "more").symlink_to("/etc")
