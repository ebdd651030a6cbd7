# /// answer
# title = "The broadcast callback is built but not passed"
#
# [fails]
# keras-start-tests = ["not broadcast"]
# ///

# %% role="changes" id="train-keras"
# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=[trajectory], verbose=0)
