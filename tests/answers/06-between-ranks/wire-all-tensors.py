# /// answer
# title = "The number of tensors"
#
# [fails]
# wire-tests = [": expected"]
# ///

# %% role="changes" id="num-on-wire"
# -    return num_operations
# +    return len(intervals)
