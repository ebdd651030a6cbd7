# /// answer
# title = "Compares with the end of the tensor before"
#
# [fails]
# wire-tests = [": expected"]
# ///

# %% role="changes" id="num-on-wire"
# -        latest_end = max(latest_end, end)
# +        latest_end = end
