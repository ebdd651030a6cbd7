# /// answer
# title = "The device is returned and not set"
#
# [fails]
# device-tests = [", not set"]
# ///

# %% role="changes" id="pick-device"
# -    torch.cuda.set_device(device)
