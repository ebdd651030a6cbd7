# /// attack
# title = "Take the time out of the slow store and out of sleeping, and feed as slowly as before"
# lab = "05-feed-the-ranks"
# class = "forged results"
# fails = ["faster-tests"]
# flags = []
# ///

# %% role="answer" id="feed-fast"


def feed_fast(store, batch_size):
    import time

    store.read_s = store.decode_s = store.train_s = 0.0
    time.sleep = lambda seconds: None
    store._start = time.perf_counter() + 10
    return feed_slowly(store, batch_size)
