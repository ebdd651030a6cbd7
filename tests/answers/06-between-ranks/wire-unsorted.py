# /// answer
# title = "In the order of the list"
#
# [fails]
# wire-tests = [": expected"]
# ///

# %% role="changes" id="num-on-wire"
# -    for begin, end in sorted(intervals):
# +    for begin, end in intervals:
