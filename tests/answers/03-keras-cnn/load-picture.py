# %% picture-0-to-255
# title = "The pixels stay as the file has them, from 0 to 255"
# fails.load-picture-tests = ["images.wrong-range"]
# -    return picture / 127.5 - 1, label
# +    return picture, label

# %% picture-as-array
# title = "An array for a tensor, which works on one record, and not in a data set's graph"
# fails.load-picture-tests = ["answer.raised", "NotImplementedError"]
# -    return picture / 127.5 - 1, label
# +    return np.asarray(picture) / 127.5 - 1, label

# %% picture-bgr
# title = "Blue comes first, as OpenCV has it"
# fails.load-picture-tests = ["images.wrong-colour"]
# -    return picture / 127.5 - 1, label
# +    return picture[..., ::-1] / 127.5 - 1, label

# %% picture-by-numpy-random
# title = "Mirrored by NumPy's coin, which a data set throws once for all images"
# fails.load-picture-tests = ["images.flip-not-random"]
# -    if training:
# -        picture = tf.image.random_flip_left_right(picture)
# +    if training and np.random.rand() < 0.5:
# +        picture = picture[:, ::-1]

# %% picture-flipped-in-validation
# title = "Flipped at random for validation, too"
# fails.load-picture-tests = ["images.mirrored"]
# -    if training:
# -        picture = tf.image.random_flip_left_right(picture)
# +    picture = tf.image.random_flip_left_right(picture)

# %% picture-grey-stays-grey
# title = "The JPEG decides how many channels an image has"
# fails.load-picture-tests = ["images.grey"]
# -    picture = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
# +    picture = tf.io.decode_and_crop_jpeg(encoded, window)

# %% picture-labels-from-0
# title = "The labels are counted from 0, as usual elsewhere"
# fails.load-picture-tests = ["labels.wrong"]
# -    return picture / 127.5 - 1, label
# +    return picture / 127.5 - 1, label - 1

# %% picture-never-cut
# title = "The middle is cut out for training, too"
# fails.load-picture-tests = ["images.not-random"]
# -    window = random_window(encoded) if training else central_window(encoded)
# +    window = central_window(encoded)

# %% picture-padded
# title = "The window keeps its shape, and black edges fill the square"
# fails.load-picture-tests = ["images.padded"]
# -    picture = tf.image.resize(picture, (image_size, image_size))
# +    picture = tf.image.resize_with_pad(picture, image_size, image_size)

# %% picture-random-in-validation
# title = "Pictures for validation are cut at random, too"
# fails.load-picture-tests = ["images.not-centred"]
# -    window = random_window(encoded) if training else central_window(encoded)
# +    window = random_window(encoded)

# %% picture-same-window-every-time
# title = "A seed inside of load_picture: every picture is cut alike for ever"
# fails.load-picture-tests = ["images.not-random"]
def load_picture(record, training):
    encoded, label = imagenet.parse_record(record)
    shape = tf.io.extract_jpeg_shape(encoded)
    if training:
        begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
            shape, tf.zeros((1, 0, 4)), (seed, 0), area_range=(0.4, 1.0), use_image_if_no_bounding_boxes=True
        )
        window = tf.concat([begin[:2], size[:2]], axis=0)
    else:
        window = central_window(encoded)
    picture = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
    picture = tf.image.resize(picture, (image_size, image_size))
    if training:
        picture = tf.image.stateless_random_flip_left_right(picture, (seed, 1))
    return picture / 127.5 - 1, label


# %% picture-squeezed-in-validation
# title = "The whole image for validation, squeezed into a square"
# fails.load-picture-tests = ["images.squeezed"]
# -    window = random_window(encoded) if training else central_window(encoded)
# -    picture = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
# +    if training:
# +        picture = tf.io.decode_and_crop_jpeg(encoded, random_window(encoded), channels=3)
# +    else:
# +        picture = tf.io.decode_jpeg(encoded, channels=3)


# %% right-channels-one-by-one
# title = "Each channel is scaled for itself, and a slice mirrors"
def load_picture(record, training):
    encoded, label = imagenet.parse_record(record)
    window = tf.cond(tf.constant(training), lambda: random_window(encoded), lambda: central_window(encoded))
    picture = tf.image.resize(tf.io.decode_and_crop_jpeg(encoded, window, channels=3), (image_size, image_size))
    if training:
        picture = tf.where(tf.random.uniform(()) < 0.5, picture, picture[:, ::-1, :])
    channels = [(picture[..., number] - 127.5) / 127.5 for number in range(3)]
    return tf.stack(channels, axis=-1), label


# %% right-varied-colours
# title = "The Stretch: brightness and saturation vary in training, too"
#      picture = tf.image.resize(picture, (image_size, image_size))
# +    if training:
# +        picture = tf.image.random_brightness(picture, 20.0)
# +        picture = tf.image.random_saturation(picture, 0.8, 1.2)


# %% picture-divides-by-128
# title = "A division by 128: white becomes 0.992"
# fails.load-picture-tests = ["images.wrong-range"]
# -    return picture / 127.5 - 1, label
# +    return picture / 128 - 1, label

# %% picture-bicubic
# title = "Bicubic interpolation, which overshoots at sharp edges"
# fails.load-picture-tests = ["images.wrong-range"]
# -    picture = tf.image.resize(picture, (image_size, image_size))
# +    picture = tf.image.resize(picture, (image_size, image_size), method="bicubic")

# %% picture-in-the-policys-type
# title = "The image has the type in which networks compute"
# fails.load-picture-tests = ["images.wrong-type"]
# -    return picture / 127.5 - 1, label
# +    picture = picture / 127.5 - 1
# +    return tf.cast(picture, tf.keras.mixed_precision.global_policy().compute_dtype), label
