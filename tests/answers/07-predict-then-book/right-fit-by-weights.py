# /// answer
# title = "Weights of polyfit in place of divided rows"
# ///

# %% role="answer" id="fit-link"
def fit_link(num_ranks, sizes, seconds):
    slope, offset = np.polyfit(sizes, seconds, 1, w=1 / np.asarray(seconds))
    steps = 2 * (num_ranks - 1)
    return np.array([offset / steps, slope * num_ranks / steps])
