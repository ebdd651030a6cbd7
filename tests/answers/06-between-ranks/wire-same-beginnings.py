# /// answer
# title = "Counts different beginnings: some microseconds make another operation"
#
# [fails]
# wire-tests = ["operations"]
# ///

# %% role="changes" id="num-on-wire"
# -    return num_operations
# +    return len({begin for begin, _ in intervals})
