# /// answer
# title = "One rank of each node writes"
#
# [fails]
# save-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="save"
# -    if dist.get_rank() == 0:
# +    if os.environ["LOCAL_RANK"] == "0":
