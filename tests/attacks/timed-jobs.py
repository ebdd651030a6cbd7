# /// attack
# title = "Ask the system to run something later"
# lab = "01-sgd"
# class = "scheduler abuse"
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

import subprocess

for words in (["crontab", "-"], ["at", "now"], ["batch"]):
    try:
        subprocess.run(words, input="touch /tmp/@MARK@\n", text=True, timeout=5)
    except (OSError, subprocess.SubprocessError) as error:
        print(error)


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
