# /// answer
# title = "Rounded to the nearest: a small rest is not counted"
#
# [fails]
# num-updates-tests = ["expected"]
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * int(num_samples / batch_size + 0.5)
