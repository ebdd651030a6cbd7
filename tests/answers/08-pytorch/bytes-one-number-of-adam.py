# /// answer
# title = "Adam's averages are counted, and not those of the squares"
#
# [fails]
# bytes-tests = ["two numbers for each weight"]
# ///

# %% role="changes" id="bytes-held"
# -        "optimizer": size(x for state in inner.state.values() for x in state.values()),
# +        "optimizer": size(state["exp_avg"] for state in inner.state.values()),
