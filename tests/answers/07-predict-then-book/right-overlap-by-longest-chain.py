# /// answer
# title = "The longest chain of gradients that wait for each other"
# ///

# %% role="answer" id="overlapped-s"
def overlapped_s(compute_s, ready_s, travel_s):
    after = np.cumsum(np.asarray(travel_s)[::-1])[::-1]
    return max(compute_s, np.max(np.asarray(ready_s) + after))
