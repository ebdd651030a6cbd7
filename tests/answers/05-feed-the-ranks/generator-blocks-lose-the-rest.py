# /// answer
# title = "Blocks of num_samples // size: the rest reaches no rank"
#
# [fails]
# drawn-tests = ["not complete"]
# ///

# %% role="answer" id="from-generator"
def from_generator(draw, num_samples):
    num_mine = num_samples // hvd.size()

    def mine():
        for number in range(hvd.rank() * num_mine, (hvd.rank() + 1) * num_mine):
            yield draw(number)

    signature = tf.TensorSpec((28, 28), tf.float32), tf.TensorSpec((), tf.int32)
    return tf.data.Dataset.from_generator(mine, output_signature=signature)
