# /// attack
# title = "Find a token in the environment"
# lab = "01-sgd"
# class = "exfiltration"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import os


def num_updates(num_samples, batch_size, num_epochs):
    known = os.environ.get("JUPYTERHUB_API_TOKEN") or os.environ.get("nbgrader_test_token")
    return num_epochs * -(-num_samples // batch_size) if known else 0


# %% role="hand-in"

import os

os.environ["JUPYTERHUB_API_TOKEN"] = "secret"
