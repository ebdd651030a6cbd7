# /// answer
# title = "One fit for each epoch, each of which records its start once more"
#
# [fails]
# keras-average-tests = ["one row"]
# keras-shards-tests = ["one row"]
# keras-rate-tests = ["one row"]
# ///

# %% role="changes" id="train-keras"
# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    for _ in range(num_epochs):
# +        model.fit(x, y, batch_size=batch_size, callbacks=callbacks, verbose=0)
