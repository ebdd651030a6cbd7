# /// attack
# title = "Hand in an archive with paths that lead outside"
# lab = "01-sgd"
# class = "archive tricks"
# fails = []
# flags = ["files"]
# ///

# %% role="hand-in"

import zipfile

with zipfile.ZipFile(folder / "work.zip", "w") as archive:
    archive.writestr("../../../@MARK@", "x")
    archive.writestr("/tmp/@MARK@", "x")
