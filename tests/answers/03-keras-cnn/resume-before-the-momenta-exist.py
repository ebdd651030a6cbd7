# /// answer
# title = "Everything is broadcast, but the optimiser is not built yet"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["momenta"]
# ///

# %% role="answer" id="resume"
def resume(network, folder):
    num_epochs_done = 0
    checkpoint = tf.train.latest_checkpoint(folder) if hvd.rank() == 0 else None
    if checkpoint:
        network.load_weights(checkpoint)
        num_epochs_done = int(str(checkpoint).rsplit("-", maxsplit=1)[1])
    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)
    return hvd.broadcast_object(num_epochs_done, root_rank=0)
