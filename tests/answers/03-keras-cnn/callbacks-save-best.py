# /// answer
# title = "Only the best is saved, by a loss of the validation that there is not"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["no checkpoint"]
# ///

# %% role="changes" id="make-callbacks"
# -        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
# +        callbacks.append(
# +            tf.keras.callbacks.ModelCheckpoint(
# +                folder / "epoch-{epoch:03d}", save_weights_only=True, save_best_only=True
# +            )
# +        )
