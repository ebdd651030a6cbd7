# /// attack
# title = "A right answer that prints"
# lab = "01-sgd"
# class = "right"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    print("hello", 10, {"points": 3})
    return num_epochs * -(-num_samples // batch_size)
