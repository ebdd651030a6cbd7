# /// answer
# title = "The GPU of the rank: there is none with that number on the second node"
#
# [fails]
# device-tests = ["device of rank 2"]
# ///

# %% role="changes" id="pick-device"
# -    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
# +    device = torch.device("cuda", int(os.environ["RANK"]))
