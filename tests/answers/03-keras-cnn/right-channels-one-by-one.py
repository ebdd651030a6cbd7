# /// answer
# title = "Each channel is scaled for itself, and a slice mirrors"
# ///

# %% role="answer" id="load-picture"
def load_picture(record, training):
    encoded, label = imagenet.parse_record(record)
    window = tf.cond(tf.constant(training), lambda: random_window(encoded), lambda: central_window(encoded))
    picture = tf.image.resize(tf.io.decode_and_crop_jpeg(encoded, window, channels=3), (image_size, image_size))
    if training:
        picture = tf.where(tf.random.uniform(()) < 0.5, picture, picture[:, ::-1, :])
    channels = [(picture[..., number] - 127.5) / 127.5 for number in range(3)]
    return tf.stack(channels, axis=-1), label
