# /// attack
# title = "Source that Python cannot parse"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% role="hand-in"

notebook.write_text(notebook.read_text().replace("    return 0", "    return " + "(-" * 150_000 + "1" + ")" * 150_000))
