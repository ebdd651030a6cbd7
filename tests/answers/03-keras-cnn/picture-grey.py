# /// answer
# title = "The picture is read in grey, and the grey is put into three channels"
# consequences = ["shards-tests", "order-tests", "train-tests", "continued-tests"]
#
# [fails]
# load-picture-tests = ["colours", "three channels"]
# ///

# %% role="changes" id="load-picture"
# -    picture = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
# +    picture = tf.image.grayscale_to_rgb(tf.io.decode_and_crop_jpeg(encoded, window, channels=1))
