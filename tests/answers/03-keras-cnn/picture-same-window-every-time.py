# /// answer
# title = "A seed inside of load_picture: every picture is cut alike for ever"
#
# [fails]
# load-picture-tests = ["cut alike"]
# ///

# %% role="answer" id="load-picture"
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
