# /// answer
# title = "Pixels that are divided by 255 before they are written: four times, or eight times the bytes"
#
# [fails]
# write-tests = ["784 bytes"]
# ///

# %% role="changes" id="write-records"
# -                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
# +                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[(image / 255).tobytes()])),
