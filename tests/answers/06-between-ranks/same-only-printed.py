# /// answer
# title = "The verdict is printed, and not returned"
#
# [fails]
# same-tests = ["same_sum returns", "got None"]
# ///

# %% role="answer" id="same-sum"
def same_sum(first, second, parts):
    print(np.allclose(first, second))
