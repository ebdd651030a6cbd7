# /// answer
# title = "Contiguous parts, and a map that draws"
# ///

# %% role="answer" id="from-generator"
def from_generator(draw, num_samples):
    ends = [num_samples * rank // hvd.size() for rank in range(hvd.size() + 1)]
    mine = tf.data.Dataset.range(ends[hvd.rank()], ends[hvd.rank() + 1])

    def drawn(number):
        image, label = tf.numpy_function(lambda n: draw(int(n)), [number], (tf.float32, tf.int64))
        return tf.ensure_shape(image, (28, 28)), tf.ensure_shape(label, ())

    return mine.map(drawn)
