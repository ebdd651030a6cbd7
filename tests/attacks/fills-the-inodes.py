# /// attack
# title = "Make files without end"
# lab = "01-sgd"
# class = "resource"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

try:
    for number in range(100_000):
        open(f"/tmp/@MARK@-{number}", "w").close()
except OSError as error:
    print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
