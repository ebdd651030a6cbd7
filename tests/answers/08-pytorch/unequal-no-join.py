# /// answer
# title = "No join: a rank with more batches waits for ranks that have finished"
#
# [fails]
# unequal-tests = ["had already finished"]
# ///

# %% role="changes" id="train-all"
# -    with model.join():
# -        for x, y in batches:
# -            optimizer.zero_grad()
# -            F.cross_entropy(model(x), y).backward()
# -            optimizer.step()
# +    for x, y in batches:
# +        optimizer.zero_grad()
# +        F.cross_entropy(model(x), y).backward()
# +        optimizer.step()
