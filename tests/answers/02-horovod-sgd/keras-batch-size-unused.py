# /// answer
# title = "fit without batch_size takes 32 samples at a time"
#
# [fails]
# keras-shards-tests = ["is batch_size used"]
# ///

# %% role="changes" id="train-keras"
# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    model.fit(x, y, epochs=num_epochs, callbacks=callbacks, verbose=0)
