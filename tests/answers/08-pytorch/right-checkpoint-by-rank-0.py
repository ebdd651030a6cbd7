# /// answer
# title = "Right: written under another name first; rank 0 reads and sends to all"
# ///

# %% role="answer" id="save"
def save(wrapped, optimizer, num_epochs, folder):
    if dist.get_rank() > 0:
        return
    part = Path(folder, "part")
    model = {name.removeprefix("module."): value for name, value in wrapped.state_dict().items()}
    torch.save({"model": model, "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}, part)
    part.rename(Path(folder, "checkpoint.pt"))


# %% role="answer" id="resume"
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
