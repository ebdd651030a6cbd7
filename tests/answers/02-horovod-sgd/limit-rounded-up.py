# /// answer
# title = "One rank too many"
#
# [fails]
# max-num-ranks-tests = ["the most"]
# ///

# %% role="answer" id="max-num-ranks"
def max_num_ranks(x, learning_rate):
    inputs = np.stack([x, np.ones_like(x)])
    limit = 2 / np.linalg.eigvalsh(2 * inputs @ inputs.T / len(x))[-1]
    return int(np.ceil(limit / learning_rate))
