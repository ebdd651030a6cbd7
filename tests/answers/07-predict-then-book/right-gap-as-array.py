# /// answer
# title = "Differences by NumPy, returned as an array"
# ///

# %% role="answer" id="explain-gap"
def explain_gap(alone_s, together_s, averaging_s, allreduce_s):
    return np.diff([0, alone_s, together_s, together_s + allreduce_s, averaging_s])
