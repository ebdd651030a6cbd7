# /// answer
# title = "A GPU, whether there is one or not"
# consequences = ["resume-tests"]
#
# [fails]
# device-tests = ["without GPUs"]
# ///

# %% role="answer" id="pick-device"
def pick_device():
    return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
