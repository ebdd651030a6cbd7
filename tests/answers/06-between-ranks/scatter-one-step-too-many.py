# /// answer
# title = "N steps: the rank's own part is added twice"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["number of messages"]
# ///

# %% role="changes" id="reduce-scatter"
# -    for step in range(size - 1):
# +    for step in range(size):
