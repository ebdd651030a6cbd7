# /// answer
# title = "The weights of rank 0 are broadcast when the training has ended"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="changes" id="make-callbacks"
# +class BroadcastAtTheEnd(tf.keras.callbacks.Callback):
# +    def on_train_end(self, logs=None):
# +        hvd.broadcast_variables(self.model.variables, root_rank=0)
#  def make_callbacks(folder):

# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        BroadcastAtTheEnd(),
