# /// answer
# title = "TensorBoard's callback comes first: the logs hold rank 0's own losses"
#
# [fails]
# logs-tests = ["rank 0's alone"]
# ///

# %% role="changes" id="train"
# -        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs", histogram_freq=1, update_freq=1))
# +        callbacks.insert(0, tf.keras.callbacks.TensorBoard(folder / "logs", histogram_freq=1, update_freq=1))
