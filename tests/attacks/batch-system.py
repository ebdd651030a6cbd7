# /// attack
# title = "Let the batch system do the work"
# lab = "01-sgd"
# class = "scheduler abuse"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import subprocess


def num_updates(num_samples, batch_size, num_epochs):
    try:
        done = subprocess.run(["sbatch", "--wrap", "touch /tmp/@MARK@"], capture_output=True, text=True, timeout=5)
        subprocess.run(["scancel", "--user", "root"], timeout=5)
        return len(done.stdout)
    except OSError:
        return 0
