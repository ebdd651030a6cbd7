# /// answer
# title = "The mean of the batches' means: a small last batch weighs too much"
#
# [fails]
# evaluate-tests = ["mean of the batches' means"]
# ///

# %% role="changes" id="evaluate"
# -            sums += torch.tensor([F.cross_entropy(logits, y, reduction="sum"), num_right, len(y)])
# +            sums += torch.tensor([F.cross_entropy(logits, y), num_right / len(y), 1])
