# /// answer
# title = "A smaller batch is counted where there is none"
#
# [fails]
# num-updates-tests = ["expected"]
# ///

# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * (num_samples // batch_size + 1)
