# /// attack
# title = "Write control characters into messages and outputs"
# lab = "01-sgd"
# class = "hostile text"
# fails = ["num-updates-tests"]
# flags = ["odd text"]
# ///

# %% role="answer" id="num-updates"

print("\x1b]0;owned\x07\x1b[2J\x1b[31mpassed\x1b[0m \u202e")


def num_updates(num_samples, batch_size, num_epochs):
    raise ValueError("\x1b[2J\x1b[H\x1b[32m20 of 20 points\x1b[0m\r")
