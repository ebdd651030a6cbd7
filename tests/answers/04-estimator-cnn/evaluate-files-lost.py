# /// answer
# title = "As many files for each rank, and what is left over for nobody"
#
# [fails]
# evaluate-once-tests = ["no rank evaluates"]
# ///

# %% role="changes" id="evaluate"
# -    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
# +    num_files = len(files) // hvd.size()
# +    mine = files[hvd.rank() * num_files : (hvd.rank() + 1) * num_files]
# +    own = lambda: input_fn(mine, False, 0, 1, params)

# -    num_pictures = imagenet.count_images(files[hvd.rank() :: hvd.size()])
# +    num_pictures = imagenet.count_images(mine)
