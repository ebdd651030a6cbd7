# /// answer
# title = "The limit of data around zero, without the mixed derivatives"
#
# [fails]
# is-stable-tests = ["is_stable says True"]
# ///

# %% role="answer" id="is-stable"
def is_stable(learning_rate, x, y):
    return learning_rate < 1 / max(np.mean(x**2), 1)
