# /// answer
# title = "Tensors go back to where rank 0 had them"
#
# [fails]
# resume-tests = ["deserialize"]
# ///

# %% role="changes" id="resume"
# -    state = torch.load(path, map_location=pick_device())
# +    state = torch.load(path)
