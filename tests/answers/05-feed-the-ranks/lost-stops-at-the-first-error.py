# /// answer
# title = "One try around all files: what comes after the first damage counts as lost"
#
# [fails]
# lost-tests = ["records lost"]
# ///

# %% role="answer" id="count-lost"
def count_lost(files, num_expected):
    found = [0] * len(files)
    try:
        for number, file in enumerate(files):
            for _ in tf.data.TFRecordDataset(file):
                found[number] += 1
    except tf.errors.DataLossError:
        pass
    return [expected - num_found for expected, num_found in zip(num_expected, found)]
