# /// answer
# title = "The data of a training are evaluated, which never end"
#
# [fails]
# evaluate-once-tests = ["without an end"]
# evaluate-accuracy-tests = []
# ///

# %% role="changes" id="evaluate"
# -    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
# +    own = lambda: input_fn(files, True, hvd.rank(), hvd.size(), params)
