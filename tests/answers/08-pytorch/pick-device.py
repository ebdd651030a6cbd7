# %% device-as-text
# title = "A text that names the device, and no torch.device"
# fails.device-tests = ["answer.wrong-type"]
# -    return device
# +    return str(device)

# %% device-by-rank
# title = "The GPU of the rank: there is none with that number on the second node"
# fails.device-tests = ["device.wrong"]
# -    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
# +    device = torch.device("cuda", int(os.environ["RANK"]))

# %% device-first-gpu
# title = "All ranks of a node on its first GPU"
# fails.device-tests = ["device.wrong"]
# -    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
# +    device = torch.device("cuda", 0)

# %% device-needs-a-gpu
# title = "A GPU, whether there is one or not"
# fails.device-tests = ["device.wrong"]
# consequences = ["resume-tests"]
def pick_device():
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return torch.device("cuda", int(os.environ["LOCAL_RANK"]))


# %% device-not-set
# title = "The device is returned and not set"
# fails.device-tests = ["device.not-set"]
# -    torch.cuda.set_device(device)

# %% device-sets-the-first
# title = "The first GPU is set on all ranks"
# fails.device-tests = ["device.wrong-set"]
# -    torch.cuda.set_device(device)
# +    torch.cuda.set_device(0)


# %% right-device-of-any-accelerator
# title = "Right: the calls of torch.accelerator"
def pick_device():
    if not torch.accelerator.is_available():
        return torch.device("cpu")
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]))
    return torch.device(torch.accelerator.current_accelerator().type, torch.accelerator.current_device_index())
