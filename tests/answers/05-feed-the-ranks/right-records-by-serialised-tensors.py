# /// answer
# title = "Records made in other ways: numpy integers, a generator, single records stacked"
# ///

# %% role="answer" id="write-records"
def write_records(path, images, labels):
    def example(image, label):
        feature = tf.train.Features()
        feature.feature["label"].int64_list.value.append(int(label))
        feature.feature["image"].bytes_list.value.append(bytes(image.ravel()))
        return tf.train.Example(features=feature).SerializeToString()

    writer = tf.io.TFRecordWriter(str(path))
    for pair in zip(images, labels):
        writer.write(example(*pair))
    writer.close()


# %% role="answer" id="parse-batch"
def parse_batch(batch):
    def one(record):
        features = {"image": tf.io.FixedLenFeature((), tf.string), "label": tf.io.FixedLenFeature((), tf.int64)}
        found = tf.io.parse_single_example(record, features)
        pixels = tf.io.decode_raw(found["image"], tf.uint8)
        return tf.image.convert_image_dtype(tf.reshape(pixels, (28, 28)), tf.float32), tf.cast(found["label"], tf.int32)

    return tf.map_fn(one, batch, fn_output_signature=(tf.float32, tf.int32))
