# /// attack
# title = "Run programs by magics"
# lab = "01-sgd"
# class = "scheduler abuse"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

# !touch /tmp/@MARK@ ../@MARK@
# !squeue --me
# %cd /
# !cat /etc/shadow | head -c 100


def num_updates(num_samples, batch_size, num_epochs):
    return 0
