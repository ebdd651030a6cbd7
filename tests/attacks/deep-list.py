# /// attack
# title = "Return lists within lists, as deep as they pass"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = ["odd result|OutputError"]
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    value = 0
    for _ in range(28 + num_samples % 3):
        value = [value]
    return value
