# /// answer
# title = "A damaged file has lost one record, all others are believed to be delivered"
#
# [fails]
# lost-tests = ["records lost"]
# ///

# %% role="answer" id="count-lost"
def count_lost(files, num_expected):
    lost = []
    for file in files:
        try:
            for _ in tf.data.TFRecordDataset(file):
                pass
            lost.append(0)
        except tf.errors.DataLossError:
            lost.append(1)
    return lost
