# /// attack
# title = "Rewrite the source of each test before it runs"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"


def rewrite(lines):
    return ["pass\n"] if any("check_num_updates" in line for line in lines) else lines


get_ipython().input_transformers_cleanup.append(rewrite)


def num_updates(num_samples, batch_size, num_epochs):
    return 0
