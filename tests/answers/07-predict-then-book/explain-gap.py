# %% gap-computing-together
# title = "Computing together in place of alone"
# fails.gap-tests = ["gap.wrong"]
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return together_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s

# %% gap-sharing-never-negative
# title = "Sharing that is never negative"
# fails.gap-tests = ["gap.not-negative"]
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return alone_s, max(0, together_s - alone_s), predicted_s, averaging_s - together_s - predicted_s

# %% gap-sharing-unexplained
# title = "Sharing counts as unexplained a second time"
# fails.gap-tests = ["gap.wrong"]
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return alone_s, together_s - alone_s, predicted_s, averaging_s - alone_s - predicted_s

# %% gap-sign
# title = "What is left over, with the sign turned"
# fails.gap-tests = ["gap.sign"]
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return alone_s, together_s - alone_s, predicted_s, together_s + predicted_s - averaging_s

# %% right-gap-as-array
# title = "Differences by NumPy, returned as an array"
def explain_gap(alone_s, together_s, averaging_s, allreduce_s):
    return np.diff([0, alone_s, together_s, together_s + allreduce_s, averaging_s])
