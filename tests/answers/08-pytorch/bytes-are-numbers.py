# /// answer
# title = "Numbers are counted, not bytes"
#
# [fails]
# bytes-tests = ["numbers, not bytes"]
# ///

# %% role="changes" id="bytes-held"
# -        return sum((x.to_local() if hasattr(x, "to_local") else x).nbytes for x in tensors if torch.is_tensor(x))
# +        return sum((x.to_local() if hasattr(x, "to_local") else x).numel() for x in tensors if torch.is_tensor(x))
