# /// answer
# title = "Every rank draws all samples"
#
# [fails]
# drawn-tests = ["no shard"]
# ///

# %% role="changes" id="from-generator"
# -        for number in range(hvd.rank(), num_samples, hvd.size()):
# +        for number in range(num_samples):
