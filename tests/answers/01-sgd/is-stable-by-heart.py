# /// answer
# title = "The limit of this one data set, typed in"
#
# [fails]
# is-stable-tests = ["is_stable says"]
# ///

# %% role="answer" id="is-stable"
def is_stable(learning_rate, x, y):
    return learning_rate < 1.0
