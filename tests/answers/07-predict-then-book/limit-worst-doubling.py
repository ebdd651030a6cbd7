# /// answer
# title = "The worst doubling, not the first that does not pay"
#
# [fails]
# limit-tests = ["after the doubling that did not pay"]
# ///

# %% role="answer" id="strong-limit"
def strong_limit(num_gpus, images_per_s, min_gain):
    gains = np.array(images_per_s[1:]) / images_per_s[:-1]
    return num_gpus[-1] if gains.min() >= min_gain else num_gpus[int(np.argmin(gains))]
