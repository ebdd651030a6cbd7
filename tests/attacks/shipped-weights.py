# /// attack
# title = "Ship results that were computed before"
# lab = "01-sgd"
# class = "forged results"
# fails = ["num-updates-tests"]
# flags = ["note"]
# ///

# %% role="answer" id="num-updates"

from pathlib import Path


def num_updates(num_samples, batch_size, num_epochs):
    return int(Path("result.txt").read_text()) if Path("result.txt").exists() else 0


# %% role="hand-in"

(folder / "result.txt").write_text("1000")
