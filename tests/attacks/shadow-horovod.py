# /// attack
# title = "Ship a Horovod that averages nothing"
# lab = "01-sgd"
# class = "shadow modules"
# fails = []
# flags = ["files"]
# ///

# %% role="hand-in"

(folder / "horovod").mkdir()
(folder / "horovod" / "__init__.py").write_text("")
(folder / "horovod" / "tensorflow.py").write_text("def init(): pass\ndef rank(): return 0\n")
