# /// attack
# title = "Return a dictionary that takes hours to read"
# lab = "01-sgd"
# class = "resource"
# fails = ["loss-tests"]
# consequences = ["gradient-tests", "step-tests", "tape-step-tests", "is-stable-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="loss"


def loss(slope, offset, x, y):
    return {number * (2**61 - 1): 0 for number in range(5_000)}
