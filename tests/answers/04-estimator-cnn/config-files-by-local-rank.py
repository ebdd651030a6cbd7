# /// answer
# title = "The first rank of each node writes"
#
# [fails]
# config-files-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="make-run-config"
# -    files = writing if hvd.rank() == 0 else silent
# +    files = writing if hvd.local_rank() == 0 else silent
