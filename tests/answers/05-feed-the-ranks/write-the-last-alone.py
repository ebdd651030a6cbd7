# /// answer
# title = "The writer is opened anew for each image, and the file begins anew"
#
# [fails]
# write-tests = ["number of records"]
# ///

# %% role="answer" id="write-records"
def write_records(path, images, labels):
    for image, label in zip(images, labels):
        features = {
            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        }
        with tf.io.TFRecordWriter(str(path)) as writer:
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
