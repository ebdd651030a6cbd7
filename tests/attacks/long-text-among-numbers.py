# /// attack
# title = "Return a list of which an array takes gigabytes"
# lab = "01-sgd"
# class = "resource"
# fails = ["gradient-tests"]
# consequences = ["step-tests", "batches-tests", "tape-step-tests", "is-stable-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="gradient"


def gradient(slope, offset, x, y):
    return ["x" * 400_000] + [0.0] * 1_000
