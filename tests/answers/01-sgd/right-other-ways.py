# /// answer
# title = "Batches of a shuffled copy, updates counted by math.ceil, stability by steps that shrink, in whole arrays"
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    rows = np.column_stack([x, y])
    rng.shuffle(rows)
    while len(rows):
        yield rows[:batch_size].T
        rows = rows[batch_size:]


# %% role="answer" id="num-updates"
import math


def num_updates(num_samples, batch_size, num_epochs):
    return math.ceil(num_samples / batch_size) * num_epochs


# %% role="answer" id="is-stable"
def is_stable(learning_rate, x, y):
    places = [np.zeros(2)]
    for _ in range(200):
        places.append(np.array(step(*places[-1], x, y, learning_rate)))
    moves = np.linalg.norm(np.diff(places, axis=0), axis=1)
    return np.isfinite(moves).all() and moves[-1] < moves[0]
