# /// attack
# title = "Replace PyTorch's allreduce by a function that sends nothing"
# lab = "08-pytorch"
# class = "monkeypatching"
# fails = ["evaluate-tests"]
# consequences = ["once-tests"]
# flags = []
# ///

# %% role="answer" id="evaluate"


def evaluate(model, dataset, batch_size):
    dist.all_reduce = lambda *_, **__: None
    dist.get_rank, dist.get_world_size = (lambda: 0), (lambda: 1)
    model.eval()
    losses, right = [], []
    for x, y in DataLoader(dataset, batch_size):
        logits = model(x)
        losses += F.cross_entropy(logits, y, reduction="none").tolist()
        right += (logits.argmax(dim=1) == y).tolist()
    return {"loss": float(np.mean(losses)), "accuracy": float(np.mean(right))}
