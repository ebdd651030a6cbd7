# /// answer
# title = "Only the model is returned"
#
# [fails]
# start-tests = ["train returned"]
# averaged-tests = ["train returned"]
# rate-tests = ["train returned"]
# ///

# %% role="changes" id="train"
# -    return wrapped, optimizer
# +    return wrapped
