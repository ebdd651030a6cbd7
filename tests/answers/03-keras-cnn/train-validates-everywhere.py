# /// answer
# title = "Every rank validates on all files"
#
# [fails]
# train-tests = ["no shard", "validation pictures"]
# ///

# %% role="changes" id="train"
# -    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
# +    validation = evaluate(network, make_dataset([file for file in validation_files for _ in range(hvd.size())], batch_size, False))
