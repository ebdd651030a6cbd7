# /// attack
# title = "Leave files where the next submission may find them"
# lab = "01-sgd"
# class = "persistence"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

from pathlib import Path

for folder in ("/tmp", "/dev/shm", "/var/tmp", "/shared", "/root", "/data", "."):
    try:
        (Path(folder) / "@MARK@.py").write_text("@MARK@")
    except OSError as error:
        print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
