# /// answer
# title = "The search ends at 1024 ranks"
#
# [fails]
# max-num-ranks-tests = ["most ranks"]
# ///

# %% role="answer" id="max-num-ranks"
def max_num_ranks(x, learning_rate):
    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]])
    limit = 2 / np.max(np.linalg.eigvalsh(hessian))
    return max((number for number in range(1, 1025) if number * learning_rate < limit), default=0)
