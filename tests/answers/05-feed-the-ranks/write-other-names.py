# /// answer
# title = "Names of one's own for the features"
#
# [fails]
# write-tests = ["names of the features"]
# ///

# %% role="changes" id="write-records"
# -                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
# +                "pixels": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
