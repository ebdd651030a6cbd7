# %% lost-stops-at-the-first-error
# title = "One try around all files: what comes after the first damage counts as lost"
# fails.lost-tests = ["lost-records.miscounted"]
def count_lost(files, num_expected):
    found = [0] * len(files)
    try:
        for number, file in enumerate(files):
            for _ in tf.data.TFRecordDataset(file):
                found[number] += 1
    except tf.errors.DataLossError:
        pass
    return [expected - num_found for expected, num_found in zip(num_expected, found)]


# %% right-lost-by-errors
# title = "Each file is read until its error"
def count_lost(files, num_expected):
    lost = list(num_expected)
    for number, file in enumerate(files):
        try:
            for _ in tf.data.TFRecordDataset([file]):
                lost[number] -= 1
        except tf.errors.OpError as error:
            print("damaged:", file, type(error).__name__)
    return np.array(lost)
