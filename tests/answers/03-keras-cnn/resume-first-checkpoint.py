# /// answer
# title = "The first checkpoint of the folder is taken for the newest"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["epochs behind it"]
# ///

# %% role="answer" id="resume"
def resume(network, folder):
    network.optimizer.build(network.trainable_variables)
    num_epochs_done = 0
    checkpoint = None
    found = sorted(str(path)[: -len(".index")] for path in Path(folder).glob("epoch-*.index"))
    if hvd.rank() == 0 and found:
        checkpoint = found[0]
    if checkpoint:
        network.load_weights(checkpoint)
        num_epochs_done = int(str(checkpoint).rsplit("-", maxsplit=1)[1])
    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)
    return hvd.broadcast_object(num_epochs_done, root_rank=0)
