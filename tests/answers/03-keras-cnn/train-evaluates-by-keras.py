# /// answer
# title = "Keras' own evaluate, which knows the images of its rank alone"
#
# [fails]
# train-tests = ["the loss of the validation", "own images"]
# ///

# %% role="changes" id="train"
# -    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
# +    validation = network.evaluate(make_dataset(validation_files, batch_size, training=False), verbose=0, return_dict=True)
