# /// answer
# title = "Counts the doublings that pay, by NumPy"
# ///

# %% role="answer" id="strong-limit"
def strong_limit(num_gpus, images_per_s, min_gain):
    gains = np.append(np.array(images_per_s[1:]) / images_per_s[:-1], 0)
    return np.array(num_gpus)[np.argmax(gains < min_gain)]
