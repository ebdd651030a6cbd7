# /// answer
# title = "Only rank 0 knows how many epochs are done"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["rank 1 believes"]
# ///

# %% role="answer" id="resume"
def resume(network, folder):
    network.optimizer.build(network.trainable_variables)
    num_epochs_done = 0
    checkpoint = tf.train.latest_checkpoint(folder) if hvd.rank() == 0 else None
    if checkpoint:
        network.load_weights(checkpoint)
        num_epochs_done = int(str(checkpoint).rsplit("-", maxsplit=1)[1])
    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)
    return num_epochs_done
