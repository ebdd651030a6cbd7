# /// answer
# title = "All ranks write, and with one folder into one file"
#
# [fails]
# save-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="save"
# -    if dist.get_rank() == 0:
# +    if True:
