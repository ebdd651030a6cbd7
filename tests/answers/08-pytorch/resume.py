# %% resume-epochs-of-rank-0
# title = "Other ranks return 0, and train all epochs again"
# fails.resume-tests = ["resume.wrong-epochs"]
# -    return state["num_epochs"]
# +    return state["num_epochs"] if dist.get_rank() == 0 else 0

# %% resume-keeps-its-rate
# title = "The optimiser keeps the rate that it had"
# fails.resume-tests = ["resume.own-rate"]
# -    optimizer.load_state_dict(state["optimizer"])
# +    lr = optimizer.param_groups[0]["lr"]
# +    optimizer.load_state_dict(state["optimizer"])
# +    optimizer.param_groups[0]["lr"] = lr

# %% resume-rank-0-only
# title = "Rank 0 loads: DDP makes no weights equal that change later"
# fails.resume-tests = ["resume.rank-0-alone"]
# -    wrapped.module.load_state_dict(state["model"])
# -    optimizer.load_state_dict(state["optimizer"])
# +    if dist.get_rank() == 0:
# +        wrapped.module.load_state_dict(state["model"])
# +        optimizer.load_state_dict(state["optimizer"])

# %% resume-takes-broken-for-none
# title = "Whatever cannot be read is taken for no checkpoint"
# fails.resume-tests = ["resume.swallowed"]
# -    state = torch.load(path, map_location=pick_device())
# +    try:
# +        state = torch.load(path, map_location=pick_device())
# +    except Exception:
# +        return 0

# %% resume-to-the-old-device
# title = "Tensors go back to where rank 0 had them"
# fails.resume-tests = ["answer.raised"]
# -    state = torch.load(path, map_location=pick_device())
# +    state = torch.load(path)

# %% resume-without-buffers
# title = "Only parameters are loaded, one by one"
# fails.resume-tests = ["resume.wrong-state"]
# -    wrapped.module.load_state_dict(state["model"])
# +    for name, parameter in wrapped.module.named_parameters():
# +        parameter.data.copy_(state["model"][name])

# %% resume-without-the-optimiser
# title = "The momenta begin at zero again"
# fails.resume-tests = ["momenta.lost"]
# -    optimizer.load_state_dict(state["optimizer"])
