# /// answer
# title = "Ten steps: the loss still falls along the flat direction"
#
# [fails]
# is-stable-tests = ["is_stable says True"]
# ///

# %% role="changes" id="is-stable"
# -    for _ in range(200):
# +    for _ in range(10):
