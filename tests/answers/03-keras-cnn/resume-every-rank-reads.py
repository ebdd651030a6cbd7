# /// answer
# title = "Every rank looks for the checkpoint, and only rank 0 may see it"
#
# [fails]
# resume-tests = ["only rank 0 sees"]
# ///

# %% role="answer" id="resume"
def resume(network, folder):
    network.optimizer.build(network.trainable_variables)
    checkpoint = tf.train.latest_checkpoint(folder)
    if checkpoint is None:
        return 0
    network.load_weights(checkpoint)
    return int(checkpoint.rsplit("-", maxsplit=1)[1])
