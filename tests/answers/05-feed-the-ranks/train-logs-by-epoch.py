# /// answer
# title = "TensorBoard's callback as it comes: no steps, no histograms"
#
# [fails]
# logs-tests = ["steps in the logs"]
# ///

# %% role="changes" id="train"
# -        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs", histogram_freq=1, update_freq=1))
# +        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
