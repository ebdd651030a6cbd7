# /// answer
# title = "All ranks average their weights at the end instead of starting alike"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="changes" id="make-callbacks"
# +class AverageWeights(tf.keras.callbacks.Callback):
# +    def on_train_end(self, logs=None):
# +        self.model.set_weights([hvd.allreduce(weights).numpy() for weights in self.model.get_weights()])
#  def make_callbacks(folder):

# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        AverageWeights(),
