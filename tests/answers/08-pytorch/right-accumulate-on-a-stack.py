# /// answer
# title = "Right: one context around all batches but the last, and the mean by hand"
# ///

# %% role="answer" id="accumulate"
def accumulate(model, batches):
    *first, last = batches
    with model.no_sync():
        for x, y in first:
            F.cross_entropy(model(x), y).backward()
    F.cross_entropy(model(last[0]), last[1]).backward()
    for parameter in model.parameters():
        parameter.grad.div_(len(batches))
