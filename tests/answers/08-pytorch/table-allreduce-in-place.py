# /// answer
# title = "dist.all_reduce changes the tensor that it gets"
#
# [fails]
# table-tests = ["changes the tensor"]
# ///

# %% role="changes" id="table"
# -    x = x.clone()
