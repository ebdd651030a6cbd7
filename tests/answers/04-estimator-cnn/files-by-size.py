# /// answer
# title = "Files are dealt to workers by their size in bytes, the largest first"
# ///

# %% role="answer" id="input-fn"
def share_of(files, worker, num_workers):
    shares = [[] for _ in range(num_workers)]
    for file in sorted(files, key=lambda file: (-os.path.getsize(file), file)):
        min(shares, key=lambda share: sum(map(os.path.getsize, share))).append(file)
    return shares[worker]


def input_fn(files, training, worker, num_workers, params):
    records = read_files(share_of(files, worker, num_workers))
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, training, params)


# %% role="changes" id="evaluate"
# -    num_pictures = imagenet.count_images(files[hvd.rank() :: hvd.size()])
# +    num_pictures = imagenet.count_images(share_of(files, hvd.rank(), hvd.size()))
