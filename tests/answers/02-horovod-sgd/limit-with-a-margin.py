# /// answer
# title = "A margin of one per cent is kept from the limit"
#
# [fails]
# max-num-ranks-tests = ["most ranks"]
# ///

# %% role="answer" id="max-num-ranks"
def max_num_ranks(x, learning_rate):
    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]])
    return int(0.99 * 2 / np.max(np.linalg.eigvalsh(hessian)) / learning_rate)
