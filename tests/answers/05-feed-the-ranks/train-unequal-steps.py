# /// answer
# title = "Rank 0 makes a step less than the others"
#
# [fails]
# train-tests = ["compiled TensorFlow step"]
# logs-tests = ["deadlock"]
# ///

# %% role="changes" id="train"
# -    return network.fit(dataset, epochs=num_epochs, callbacks=callbacks, verbose=0).history
# +    return network.fit(dataset.take(3 if hvd.rank() else 2), epochs=num_epochs, callbacks=callbacks, verbose=0).history
