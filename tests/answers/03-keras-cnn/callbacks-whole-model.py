# /// answer
# title = "The checkpoint is a whole model"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["whole model"]
# ///

# %% role="changes" id="make-callbacks"
# -        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
# +        callbacks.append(tf.keras.callbacks.ModelCheckpoint(str(folder / "epoch-{epoch:03d}")))
