# /// answer
# title = "Counted one by one"
# ///

# %% role="answer" id="lost-share"
def lost_share(gradients, scale):
    lost = [one for one in gradients if one != 0 and not 2.0**-25 < abs(one * scale) < 65520]
    return len(lost) / np.count_nonzero(gradients)
