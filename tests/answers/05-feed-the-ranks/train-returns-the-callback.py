# /// answer
# title = "What fit returns, a History, not its dictionary"
#
# [fails]
# train-tests = ["network.fit"]
# ///

# %% role="changes" id="train"
# -    return network.fit(dataset, epochs=num_epochs, callbacks=callbacks, verbose=0).history
# +    return network.fit(dataset, epochs=num_epochs, callbacks=callbacks, verbose=0)
