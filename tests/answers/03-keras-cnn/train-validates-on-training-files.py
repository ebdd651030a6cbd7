# /// answer
# title = "The training files are used for validation"
#
# [fails]
# train-tests = ["validation picture"]
# ///

# %% role="changes" id="train"
# -    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
# +    validation = evaluate(network, make_dataset(train_files, batch_size, training=False))
