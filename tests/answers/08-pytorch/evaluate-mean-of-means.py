# /// answer
# title = "The mean of the ranks' means: small shares weigh too much"
#
# [fails]
# evaluate-tests = ["mean of the ranks' means"]
# ///

# %% role="changes" id="evaluate"
# -    dist.all_reduce(sums)
# -    return {"loss": float(sums[0] / sums[2]), "accuracy": float(sums[1] / sums[2])}
# +    means = sums[:2] / sums[2]
# +    dist.all_reduce(means)
# +    means /= dist.get_world_size()
# +    return {"loss": float(means[0]), "accuracy": float(means[1])}
