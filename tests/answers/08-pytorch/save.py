# %% right-checkpoint-by-rank-0
# title = "Right: written under another name first; rank 0 reads and sends to all"
def save(wrapped, optimizer, num_epochs, folder):
    if dist.get_rank() > 0:
        return
    part = Path(folder, "part")
    model = {name.removeprefix("module."): value for name, value in wrapped.state_dict().items()}
    torch.save({"model": model, "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}, part)
    part.rename(Path(folder, "checkpoint.pt"))


# %% id="resume"
def resume(wrapped, optimizer, folder):
    found = [None]
    path = Path(folder, "checkpoint.pt")
    if dist.get_rank() == 0 and path.exists():
        found = [torch.load(path, map_location="cpu")]
    dist.broadcast_object_list(found, src=0)
    if found[0] is None:
        return 0
    wrapped.module.load_state_dict(found[0]["model"])
    optimizer.load_state_dict(found[0]["optimizer"])
    return found[0]["num_epochs"]


# %% save-initial-optimizer
# title = "The optimiser's settings without its momenta"
# fails.save-tests = ["checkpoint.no-momenta"]
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        settings = torch.optim.SGD(wrapped.parameters(), lr=0.1).state_dict()
# +        state = {"model": wrapped.module.state_dict(), "optimizer": settings, "num_epochs": num_epochs}

# %% save-names-of-the-wrapped
# title = "The state of the wrapped model, whose names begin with module."
# fails.save-tests = ["checkpoint.of-wrapped"]
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        state = {"model": wrapped.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}

# %% save-on-every-node
# title = "One rank of each node writes"
# fails.save-tests = ["writers.not-rank-0"]
# -    if dist.get_rank() == 0:
# +    if os.environ["LOCAL_RANK"] == "0":

# %% save-once
# title = "A file that is there is kept"
# fails.save-tests = ["checkpoint.not-replaced"]
# -    if dist.get_rank() == 0:
# +    if dist.get_rank() == 0 and not Path(folder, "checkpoint.pt").exists():

# %% save-parts-of-the-optimizer
# title = "The optimiser's settings, as a list"
# fails.save-tests = ["checkpoint.no-state"]
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        settings = optimizer.param_groups
# +        state = {"model": wrapped.module.state_dict(), "optimizer": [len(settings)], "num_epochs": num_epochs}

# %% save-strips-letters
# title = "str.lstrip takes all letters of module off the names"
# fails.save-tests = ["checkpoint.wrong-names"]
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        weights = {name.lstrip("module."): value for name, value in wrapped.state_dict().items()}
# +        state = {"model": weights, "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}

# %% save-the-objects
# title = "The model and the optimiser themselves are written"
# fails.save-tests = ["checkpoint.whole-objects"]
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        state = {"model": wrapped.module, "optimizer": optimizer, "num_epochs": num_epochs}

# %% save-without-buffers
# title = "Only parameters are written, and no buffers"
# fails.save-tests = ["checkpoint.no-buffers"]
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        weights = dict(wrapped.module.named_parameters())
# +        state = {"model": weights, "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
