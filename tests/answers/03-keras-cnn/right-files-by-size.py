# /// answer
# title = "Files are dealt to ranks by their size in bytes, the largest first"
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    shares = [[] for _ in range(hvd.size())]
# +    for file in sorted(files, key=lambda file: (-os.path.getsize(file), file)):
# +        min(shares, key=lambda share: sum(map(os.path.getsize, share))).append(file)
# +    files = shares[hvd.rank()]
