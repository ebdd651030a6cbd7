# /// answer
# title = "Each batch counts as a full one"
#
# [fails]
# evaluate-tests = ["counts like a full one"]
# ///

# %% role="changes" id="evaluate"
# -            sums += torch.tensor([F.cross_entropy(logits, y, reduction="sum"), num_right, len(y)])
# +            num_right = num_right / len(y) * batch_size
# +            sums += torch.tensor([batch_size * F.cross_entropy(logits, y), num_right, len(y)])
