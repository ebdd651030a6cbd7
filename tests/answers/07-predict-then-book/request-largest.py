# /// answer
# title = "The largest number of nodes"
#
# [fails]
# request-tests = ["expected"]
# ///

# %% role="changes" id="request"
# -    for num_nodes, speed in zip(nums_nodes, images_per_s):
# +    for num_nodes, speed in list(zip(nums_nodes, images_per_s))[::-1]:
