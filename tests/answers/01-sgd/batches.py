# %% batches-by-np-random
# title = "NumPy's global generator shuffles, the one given is not used"
# fails.batches-tests = ["order.not-seeded"]
# -    order = rng.permutation(len(x))
# +    order = np.random.permutation(len(x))

# %% batches-in-order
# title = "The samples are not shuffled"
# fails.batches-tests = ["order.not-shuffled"]
def batches(x, y, batch_size, rng):
    for first in range(0, len(x), batch_size):
        yield x[first : first + batch_size], y[first : first + batch_size]


# %% batches-lose-the-rest
# title = "The last, smaller batch is dropped"
# fails.batches-tests = ["samples.not-once"]
def batches(x, y, batch_size, rng):
    order = rng.permutation(len(x))
    for number in range(len(x) // batch_size):
        picked = order[number * batch_size : (number + 1) * batch_size]
        yield x[picked], y[picked]


# %% batches-never-end
# title = "One epoch after the other, without end"
# fails.batches-tests = ["data.endless"]
def batches(x, y, batch_size, rng):
    while True:
        order = rng.permutation(len(x))
        for first in range(0, len(x), batch_size):
            picked = order[first : first + batch_size]
            yield x[picked], y[picked]


# %% batches-of-equal-parts
# title = "As many batches as asked for, but all of about one size"
# fails.batches-tests = ["batches.wrong-size"]
def batches(x, y, batch_size, rng):
    for picked in np.array_split(rng.permutation(len(x)), -(-len(x) // batch_size)):
        yield x[picked], y[picked]


# %% batches-return-nothing
# title = "The batches are made and given to nobody"
# fails.batches-tests = ["answer.wrong-type"]
# -        yield x[picked], y[picked]
# +        x[picked], y[picked]

# %% batches-return-the-first
# title = "return in place of yield: the first batch, and no other"
# fails.batches-tests = ["answer.wrong-type"]
# -        yield x[picked], y[picked]
# +        return x[picked], y[picked]

# %% batches-same-order-every-epoch
# title = "A generator of one's own, seeded anew in every epoch"
# fails.batches-tests = ["order.repeated"]
# -    order = rng.permutation(len(x))
# +    order = np.random.default_rng(0).permutation(len(x))

# %% batches-shuffle-in-place
# title = "The caller's own arrays are shuffled, both by one order"
# fails.batches-tests = ["data.changed"]
# -    order = rng.permutation(len(x))
# +    order = rng.permutation(len(x))
# +    x[:], y[:] = x[order], y[order]

# -        picked = order[first : first + batch_size]
# +        picked = slice(first, first + batch_size)


# %% batches-shuffle-the-batches
# title = "The batches come in random order, and the samples in them never change"
# fails.batches-tests = ["order.neighbours"]
def batches(x, y, batch_size, rng):
    parts = np.split(np.arange(len(x)), range(batch_size, len(x), batch_size))
    full = parts[: len(x) // batch_size]
    rng.shuffle(full)
    for picked in full + parts[len(full) :]:
        yield x[picked], y[picked]


# %% batches-shuffle-within-batches
# title = "Cut into batches first, then shuffled: each batch always holds the same samples"
# fails.batches-tests = ["order.neighbours"]
# -    order = rng.permutation(len(x))
# -    for first in range(0, len(x), batch_size):
# -        picked = order[first : first + batch_size]
# +    for first in range(0, len(x), batch_size):
# +        picked = rng.permutation(range(first, min(first + batch_size, len(x))))


# %% batches-shuffle-x-alone
# title = "x and y are shuffled apart"
# fails.batches-tests = ["labels.mismatched"]
def batches(x, y, batch_size, rng):
    x, y = rng.permutation(x), rng.permutation(y)
    for first in range(0, len(x), batch_size):
        yield x[first : first + batch_size], y[first : first + batch_size]


# %% right-early-verdict
# title = "A verdict as soon as it is certain, of NumPy's kind, and random samples taken out of a list of numbers"
def batches(x, y, batch_size, rng):
    left = list(range(len(x)))
    while left:
        picked = [left.pop(rng.integers(len(left))) for _ in range(min(batch_size, len(left)))]
        yield [x[i] for i in picked], [y[i] for i in picked]


# %% id="is-stable"
def is_stable(learning_rate, x, y):
    start = loss(0.5, 0.8, x, y)
    m, b = 0.5, 0.8
    for _ in range(200):
        m, b = step(m, b, x, y, learning_rate)
        if loss(m, b, x, y) > 1e6 * start:
            return np.bool_(False)
    return np.less(loss(m, b, x, y), start)


# %% right-other-ways
# title = "Batches of a shuffled copy, updates counted by math.ceil, stability by steps that shrink, in whole arrays"
def batches(x, y, batch_size, rng):
    rows = np.column_stack([x, y])
    rng.shuffle(rows)
    while len(rows):
        yield rows[:batch_size].T
        rows = rows[batch_size:]


# %% id="num-updates"
import math


def num_updates(num_samples, batch_size, num_epochs):
    return math.ceil(num_samples / batch_size) * num_epochs


# %% id="is-stable"
def is_stable(learning_rate, x, y):
    places = [np.zeros(2)]
    for _ in range(200):
        places.append(np.array(step(*places[-1], x, y, learning_rate)))
    moves = np.linalg.norm(np.diff(places, axis=0), axis=1)
    return np.isfinite(moves).all() and moves[-1] < moves[0]
