"""TensorBoard on one of our training runs: its tabs scalars, graphs and histograms."""

DATA = ("results/tensorboard",)
CAPTION = "The small network on drawn digits, trained on two ranks, as TensorBoard 2.15 shows it."
TABS = ("scalars", "graphs", "histograms")


def draw(results):
    """Return the screenshots."""
    return [results["pictures"][tab] for tab in TABS]


def words(results):
    """Return a text alternative for each tab."""
    history = results["history"]
    ends = {name: values[-1] for name, values in history.items()}
    scalars = (
        f"The tab scalars: accuracy and loss of {results['epochs']} epochs, for training and validation. At the end, "
        f"accuracy is {ends['accuracy']:.2f} in training and {ends['val_accuracy']:.2f} in validation, and loss "
        f"{ends['loss']:.2f} and {ends['val_loss']:.2f}."
    )
    graphs = "The tab graphs: the network as Keras sees it, input, flatten, hidden, output, one above the other."
    histograms = (
        "The tab histograms: the weights of the hidden and of the output layer, one curve for each epoch, the last in "
        "front; both widen with the epochs."
    )
    return [scalars, graphs, histograms]
