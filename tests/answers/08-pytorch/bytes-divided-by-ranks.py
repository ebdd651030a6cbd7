# /// answer
# title = "All is divided by the number of ranks"
#
# [fails]
# bytes-tests = ["not to be divided"]
# ///

# %% role="answer" id="bytes-held"
def bytes_held(model, optimizer):
    share = sum(parameter.nbytes for parameter in model.parameters()) / dist.get_world_size()
    return {"parameters": share, "gradients": share, "optimizer": 2 * share}
