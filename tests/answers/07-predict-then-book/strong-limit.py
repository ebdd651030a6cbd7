# %% limit-gain-since-one
# title = "Compares with the first number"
# fails.limit-tests = ["doubling.too-many"]
# -        if after < min_gain * before:
# +        if after < min_gain * images_per_s[0]:

# %% limit-last-that-pays
# title = "The last doubling that pays, also after one that did not"
# fails.limit-tests = ["doubling.too-many"]
# -        if after < min_gain * before:
# -            break
# -        limit = larger
# +        if after >= min_gain * before:
# +            limit = larger

# %% limit-more-than-the-gain
# title = "A gain that is hit exactly does not count"
# fails.limit-tests = ["doubling.too-few"]
# -        if after < min_gain * before:
# +        if after <= min_gain * before:

# %% right-limit-by-counting
# title = "Counts the doublings that pay, by NumPy"
def strong_limit(num_gpus, images_per_s, min_gain):
    gains = np.append(np.array(images_per_s[1:]) / images_per_s[:-1], 0)
    return np.array(num_gpus)[np.argmax(gains < min_gain)]
