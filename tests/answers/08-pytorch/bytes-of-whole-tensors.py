# /// answer
# title = "FSDP's tensors say the size of the whole"
#
# [fails]
# bytes-tests = ["all of the model's"]
# ///

# %% role="changes" id="bytes-held"
# -        return sum((x.to_local() if hasattr(x, "to_local") else x).nbytes for x in tensors if torch.is_tensor(x))
# +        return sum(x.numel() * x.element_size() for x in tensors if torch.is_tensor(x))
