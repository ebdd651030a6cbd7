# /// answer
# title = "The file names are sharded as a data set, options instead of arguments, validation shuffled, too"
# ///

# %% role="answer" id="make-dataset"
def make_dataset(files, batch_size, training, deterministic=True):
    options = tf.data.Options()
    options.deterministic = deterministic
    options.threading.private_threadpool_size = 2
    names = tf.data.Dataset.from_tensor_slices(tf.constant(files)).shard(num_shards=hvd.size(), index=hvd.rank())
    names = names.shuffle(100, seed=7 + hvd.rank())
    records = names.interleave(lambda name: imagenet.read_records(name, damaged), block_length=2, cycle_length=3)
    records = records.shuffle(500, seed=11 * hvd.rank())
    if training:
        records = records.repeat(None)
    pictures = records.map(lambda record: load_picture(record, training=training), tf.data.AUTOTUNE)
    pictures = pictures.batch(batch_size, drop_remainder=training, num_parallel_calls=2)
    return pictures.with_options(options).prefetch(1)


# %% role="answer" id="load-picture"
def load_picture(record, training):
    encoded, label = imagenet.parse_record(record)
    picture = tf.io.decode_jpeg(encoded, channels=3)
    if training:
        y, x, height, width = tf.unstack(random_window(encoded))
    else:
        y, x, height, width = tf.unstack(central_window(encoded))
    picture = tf.image.crop_to_bounding_box(picture, y, x, height, width)
    picture = tf.image.resize(tf.image.convert_image_dtype(picture, tf.float32), [image_size, image_size])
    if training:
        picture = tf.cond(tf.random.uniform([]) < 0.5, lambda: picture[:, ::-1], lambda: picture)
    return tf.clip_by_value(picture * 2.0 - 1.0, -1.0, 1.0), tf.cast(label, tf.int64)
