# /// answer
# title = "Right: DTensor by its class, bytes by the size of a number"
# ///

# %% role="answer" id="bytes-held"
def bytes_held(model, optimizer):
    from torch.distributed.tensor import DTensor

    found = {"parameters": 0, "gradients": 0, "optimizer": 0}

    def note(name, x):
        x = x.to_local() if isinstance(x, DTensor) else x
        found[name] += x.numel() * x.element_size()

    state = optimizer.optim.state if isinstance(optimizer, ZeroRedundancyOptimizer) else optimizer.state
    for parameter in model.parameters():
        note("parameters", parameter)
        if parameter.grad is not None:
            note("gradients", parameter.grad)
        for name in ("exp_avg", "exp_avg_sq"):
            if name in state.get(parameter, {}):
                note("optimizer", state[parameter][name])
    return found
