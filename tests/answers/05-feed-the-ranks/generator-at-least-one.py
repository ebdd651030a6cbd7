# /// answer
# title = "At least one sample for each rank, also where there are fewer samples than ranks"
#
# [fails]
# drawn-tests = ["of 2 samples"]
# ///

# %% role="changes" id="from-generator"
# -        for number in range(hvd.rank(), num_samples, hvd.size()):
# -            yield draw(number)
# +        for number in range(hvd.rank(), num_samples, hvd.size()) or [num_samples - 1]:
# +            yield draw(number)
