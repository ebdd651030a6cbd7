# /// answer
# title = "The pixels stay as the file has them, from 0 to 255"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["pixels", "not from -1 to 1"]
# shards-tests = ["pixels"]
# order-tests = ["pixels"]
# ///

# %% role="answer" id="load-picture"
def load_picture(record, training):
    encoded, label = imagenet.parse_record(record)
    window = random_window(encoded) if training else central_window(encoded)
    picture = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
    picture = tf.image.resize(picture, (image_size, image_size))
    if training:
        picture = tf.image.random_flip_left_right(picture)
    return picture, label
