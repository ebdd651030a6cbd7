# /// answer
# title = "Weighted by the images in whole batches"
#
# [fails]
# evaluate-accuracy-tests = ["classified correctly"]
# ///

# %% role="changes" id="evaluate"
# -    num_pictures = imagenet.count_images(files[hvd.rank() :: hvd.size()])
# +    num_batches = imagenet.count_images(files[hvd.rank() :: hvd.size()]) // params["batch_size"]
# +    num_pictures = num_batches * params["batch_size"]
