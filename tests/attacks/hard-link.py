# /// attack
# title = "Hand in the notebook as a link to one of another student"
# lab = "01-sgd"
# class = "archive tricks"
# fails = ["loss-tests", "gradient-tests", "step-tests", "batches-tests", "num-updates-tests", "tape-step-tests", "is-stable-tests", "hessian-tests", "largest-stable-rate-tests"]
# flags = ["files"]
# ///

# %% role="hand-in"

notebook.unlink()
notebook.symlink_to(next(course.glob("submitted/neighbour/*/*.ipynb")))
