# /// attack
# title = "Hand in three thousand files"
# lab = "01-sgd"
# class = "archive tricks"
# fails = []
# flags = ["files"]
# ///

# %% role="hand-in"

(folder / "more").mkdir()
for number in range(3000):
    (folder / "more" / f"{number}.txt").touch()
