# /// answer
# title = "Right: the place by other calls, numbers as tensors"
# ///

# %% role="answer" id="join"
def join():
    dist.init_process_group(backend="gloo", init_method="env://")
    print("joined")
    return [torch.tensor(dist.get_rank()), np.int64(dist.get_world_size()), dist.get_node_local_rank()]


# %% role="answer" id="pick-device"
def pick_device():
    if torch.cuda.is_available():
        torch.cuda.set_device(dist.get_node_local_rank())
        return f"cuda:{dist.get_node_local_rank()}"
    return "cpu"
