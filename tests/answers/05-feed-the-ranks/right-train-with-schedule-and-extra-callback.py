# /// answer
# title = "Keywords, another loss function, a callback that prints, compression"
# ///

# %% role="answer" id="train"
def train(build, dataset, folder, num_epochs, rate):
    network = build()
    plain = tf.keras.optimizers.SGD(learning_rate=hvd.size() * rate, momentum=0.9)
    optimizer = hvd_keras.DistributedOptimizer(plain, compression=hvd.Compression.fp16)
    loss = lambda labels, logits: tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
    network.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"])
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), hvd_keras.callbacks.MetricAverageCallback()]
    if not hvd.rank():
        print(network.count_params(), "parameters")
        board = tf.keras.callbacks.TensorBoard(
            log_dir=str(folder / "logs"), histogram_freq=1, update_freq=1, write_graph=False
        )
        callbacks = [*callbacks, board]
    found = network.fit(dataset, epochs=num_epochs, callbacks=callbacks, verbose=2)
    return dict(found.history)
