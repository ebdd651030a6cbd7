# /// answer
# title = "The second moment is divided by one less than the number of samples"
#
# [fails]
# max-num-ranks-tests = ["most ranks"]
# ///

# %% role="answer" id="max-num-ranks"
def max_num_ranks(x, learning_rate):
    hessian = 2 * np.array([[np.sum(x * x) / (len(x) - 1), np.mean(x)], [np.mean(x), 1.0]])
    return int(2 / np.max(np.linalg.eigvalsh(hessian)) / learning_rate)
