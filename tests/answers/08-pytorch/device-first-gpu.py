# /// answer
# title = "All ranks of a node on its first GPU"
#
# [fails]
# device-tests = ["device of rank 1"]
# ///

# %% role="changes" id="pick-device"
# -    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
# +    device = torch.device("cuda", 0)
