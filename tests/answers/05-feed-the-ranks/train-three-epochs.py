# /// answer
# title = "Three epochs are typed in, as the notebook has them"
#
# [fails]
# train-tests = ["the steps in 2 epochs"]
# logs-tests = ["the steps in 2 epochs"]
# ///

# %% role="changes" id="train"
# -    return network.fit(dataset, epochs=num_epochs, callbacks=callbacks, verbose=0).history
# +    return network.fit(dataset, epochs=3, callbacks=callbacks, verbose=0).history
