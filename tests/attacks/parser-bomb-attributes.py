# /// attack
# title = "Source whose tree is too deep to walk"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

notebook.write_text(notebook.read_text().replace("    return 0", "    return num_samples" + ".real" * 30_000))
