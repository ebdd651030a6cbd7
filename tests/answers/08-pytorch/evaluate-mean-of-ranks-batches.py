# /// answer
# title = "Each rank takes the mean of its batches' means, and the ranks take the mean of these"
#
# [fails]
# evaluate-tests = ["mean over the ranks of the batches' means"]
# ///

# %% role="changes" id="evaluate"
# -            sums += torch.tensor([F.cross_entropy(logits, y, reduction="sum"), num_right, len(y)])
# +            sums += torch.tensor([F.cross_entropy(logits, y), num_right / len(y), 1])
# +    sums /= sums[2].clone()
