# %% device-by-rank
# title = "The GPU of the rank: there is none with that number on the second node"
# fails.device-tests = ["device of rank 2"]
# -    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
# +    device = torch.device("cuda", int(os.environ["RANK"]))

# %% device-first-gpu
# title = "All ranks of a node on its first GPU"
# fails.device-tests = ["device of rank 1"]
# -    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
# +    device = torch.device("cuda", 0)

# %% device-needs-a-gpu
# title = "A GPU, whether there is one or not"
# fails.device-tests = ["without GPUs"]
# consequences = ["resume-tests"]
def pick_device():
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return torch.device("cuda", int(os.environ["LOCAL_RANK"]))


# %% device-not-set
# title = "The device is returned and not set"
# fails.device-tests = [", not set"]
# -    torch.cuda.set_device(device)
