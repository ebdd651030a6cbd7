# %% lost-at-the-largest-number
# title = "Whatever is above the largest number of 16 bits, though some of it is rounded down to it"
# fails.lost-tests = ["lost-share.wrong"]
def lost_share(gradients, scale):
    sizes = np.abs(gradients[gradients != 0] * np.float32(scale))
    return np.mean((sizes <= 2.0**-25) | (sizes > 65504))


# %% lost-scaled-too-late
# title = "Scaled after the cast"
# fails.lost-tests = ["lost-share.wrong"]
# -        halves = (gradients * np.float32(scale)).astype(np.float16)
# +        halves = gradients.astype(np.float16) * np.float16(scale)


# %% right-lost-by-counting
# title = "Counted one by one"
def lost_share(gradients, scale):
    lost = [one for one in gradients if one != 0 and not 2.0**-25 < abs(one * scale) < 65520]
    return len(lost) / np.count_nonzero(gradients)
