# /// answer
# title = "The sum comes back flat"
#
# [fails]
# ring-tests = ["shape of the sum"]
# ///

# %% role="changes" id="ring-allreduce"
# -    return np.concatenate(chunks).reshape(array.shape)
# +    return np.concatenate(chunks)
