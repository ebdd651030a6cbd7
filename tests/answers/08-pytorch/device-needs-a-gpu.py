# /// answer
# title = "A GPU, whether there is one or not"
# consequences = ["resume-tests"]
#
# [fails]
# device-tests = ["without GPUs"]
# ///

# %% role="answer" id="pick-device"
def pick_device():
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return torch.device("cuda", int(os.environ["LOCAL_RANK"]))
