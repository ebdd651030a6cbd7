# /// answer
# title = "Right: contiguous shares, means weighted by hand, numbers as tensors"
# ///

# %% role="answer" id="evaluate"
def evaluate(model, dataset, batch_size):
    model.train(False)
    first, last = (len(dataset) * (dist.get_rank() + i) // dist.get_world_size() for i in (0, 1))
    losses, hits = [], []
    with torch.inference_mode():
        for begin in range(first, last, batch_size):
            x, y = (
                torch.stack(part) for part in zip(*(dataset[i] for i in range(begin, min(begin + batch_size, last))))
            )
            logits = model(x)
            losses += F.cross_entropy(logits, y, reduction="none").tolist()
            hits += (logits.argmax(1) == y).tolist()
    everybody = [None] * dist.get_world_size()
    dist.all_gather_object(everybody, (losses, hits))
    losses, hits = (sum((list(part[i]) for part in everybody), []) for i in (0, 1))
    return {"loss": torch.tensor(np.mean(losses)), "accuracy": np.float64(np.mean(hits))}
