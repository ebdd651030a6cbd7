# /// answer
# title = "Each rank makes the steps of its own pictures, and one waits for the other"
#
# [fails]
# train-tests = ["failed: "]
# continued-tests = []
# ///

# %% role="changes" id="train"
# -    num_images = imagenet.count_images(train_files)
# +    num_images = hvd.size() * imagenet.count_images(train_files[hvd.rank() :: hvd.size()])
