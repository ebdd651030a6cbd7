# /// answer
# title = "The start is broadcast before the first batch by a callback of one's own"
# ///

# %% role="changes" id="make-callbacks"
# +class BroadcastAtTheBeginning(tf.keras.callbacks.Callback):
# +    def on_train_begin(self, logs=None):
# +        hvd.broadcast_variables(self.model.variables, root_rank=0)
# +
# +
#  def make_callbacks(folder):

# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        BroadcastAtTheBeginning(),
