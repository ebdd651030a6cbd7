# %% right-records-by-serialised-tensors
# title = "Records made in other ways: numpy integers, a generator, single records stacked"
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


# %% id="parse-batch"
def parse_batch(batch):
    def one(record):
        features = {"image": tf.io.FixedLenFeature((), tf.string), "label": tf.io.FixedLenFeature((), tf.int64)}
        found = tf.io.parse_single_example(record, features)
        pixels = tf.io.decode_raw(found["image"], tf.uint8)
        return tf.image.convert_image_dtype(tf.reshape(pixels, (28, 28)), tf.float32), tf.cast(found["label"], tf.int32)

    return tf.map_fn(one, batch, fn_output_signature=(tf.float32, tf.int32))


# %% write-floats
# title = "Pixels that are divided by 255 before they are written: four times, or eight times the bytes"
# fails.write-tests = ["features.wrong-bytes"]
# -                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
# +                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[(image / 255).tobytes()])),

# %% write-label-as-float
# title = "The label as a list of floats: each reader of the file would have to know"
# fails.write-tests = ["labels.not-whole"]
# -                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
# +                "label": tf.train.Feature(float_list=tf.train.FloatList(value=[label])),

# %% write-other-names
# title = "Names of one's own for the features"
# fails.write-tests = ["features.wrong-names"]
# -                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
# +                "pixels": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),


# %% write-the-last-alone
# title = "The writer is opened anew for each image, and the file begins anew"
# fails.write-tests = ["records.wrong-number"]
def write_records(path, images, labels):
    for image, label in zip(images, labels):
        features = {
            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        }
        with tf.io.TFRecordWriter(str(path)) as writer:
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
