# /// answer
# title = "As many files for each rank, and what is left over for nobody"
#
# [fails]
# train-shards-tests = ["by no rank"]
# ///

# %% role="changes" id="train"
#      num_steps = num_steps // hvd.size()
# +    num_files = len(files) // hvd.size()
# +    own = files[hvd.rank() * num_files : (hvd.rank() + 1) * num_files]

# -            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
# +            lambda: input_fn(own, True, 0, 1, params),
