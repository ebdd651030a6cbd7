# /// answer
# title = "In the order of the list"
#
# [fails]
# wire-tests = ["operations"]
# ///

# %% role="changes" id="num-on-wire"
# -    for begin, end in sorted(intervals):
# +    for begin, end in intervals:
