# /// answer
# title = "The loop of the notebook is called, which trains on the notebook's own samples"
#
# [fails]
# horovod-average-tests = ["samples given"]
# horovod-shards-tests = ["samples given"]
# horovod-rate-tests = ["samples given"]
# horovod-serial-tests = ["2 steps in each"]
# ///

# %% role="answer" id="train-horovod"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    return train(shard, broadcast_start, average, scale_rate, num_epochs)
