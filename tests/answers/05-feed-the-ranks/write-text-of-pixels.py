# /// answer
# title = "The image as the text that print shows of it"
#
# [fails]
# write-tests = ["784 bytes"]
# ///

# %% role="changes" id="write-records"
# -                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
# +                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[str(image).encode()])),
