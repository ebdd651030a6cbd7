# /// answer
# title = "Each file is read until its error"
# ///

# %% role="answer" id="count-lost"
def count_lost(files, num_expected):
    lost = list(num_expected)
    for number, file in enumerate(files):
        try:
            for _ in tf.data.TFRecordDataset([file]):
                lost[number] -= 1
        except tf.errors.OpError as error:
            print("damaged:", file, type(error).__name__)
    return np.array(lost)
