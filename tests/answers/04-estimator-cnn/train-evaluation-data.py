# /// answer
# title = "The data of an evaluation, repeated"
#
# [fails]
# train-steps-tests = ["batch_size"]
# ///

# %% role="changes" id="train"
# -            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
# +            lambda: input_fn(files, False, hvd.rank(), hvd.size(), params).repeat(),
