# /// answer
# title = "The label as a list of floats: each reader of the file would have to know"
#
# [fails]
# write-tests = ["expected a list of whole numbers"]
# ///

# %% role="changes" id="write-records"
# -                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
# +                "label": tf.train.Feature(float_list=tf.train.FloatList(value=[label])),
