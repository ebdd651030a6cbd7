# /// answer
# title = "One step too few: a part is missing"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["number of messages"]
# ///

# %% role="changes" id="reduce-scatter"
# -    for step in range(size - 1):
# +    for step in range(size - 2):
