# /// answer
# title = "The default strategy: each worker trains alone"
#
# [fails]
# strategy-together-tests = ["not broadcast"]
# ///

# %% role="answer" id="train-with-strategy"
def train_with_strategy(files, num_steps, params, callbacks=()):
    config = json.loads(os.environ["TF_CONFIG"])
    num_workers = len(config["cluster"]["worker"])
    network = params["build"]()
    optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9)
    network.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset = input_fn(files, True, config["task"]["index"], num_workers, params)
    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))
