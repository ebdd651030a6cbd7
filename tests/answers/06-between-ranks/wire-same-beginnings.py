# /// answer
# title = "Counts different beginnings: some microseconds make another operation"
#
# [fails]
# wire-tests = [": expected"]
# ///

# %% role="changes" id="num-on-wire"
# -    return num_operations
# +    return len({begin for begin, _ in intervals})
