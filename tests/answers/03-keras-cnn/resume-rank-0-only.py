# /// answer
# title = "Rank 0 loads the checkpoint, the others keep their random weights"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["rank 1 does not go on"]
# ///

# %% role="answer" id="resume"
def resume(network, folder):
    network.optimizer.build(network.trainable_variables)
    num_epochs_done = 0
    checkpoint = tf.train.latest_checkpoint(folder) if hvd.rank() == 0 else None
    if checkpoint:
        network.load_weights(checkpoint)
        num_epochs_done = int(str(checkpoint).rsplit("-", maxsplit=1)[1])
    return hvd.broadcast_object(num_epochs_done, root_rank=0)
