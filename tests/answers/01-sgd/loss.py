# %% experiment-without-end
# title = "An experiment that takes hours below the function: what the cell defines counts"
power = 2


def loss(slope, offset, x, y):
    return np.mean((slope * x + offset - y) ** power)


# Where does it go down to?
best = min(loss(slope / 1000, 0.0, x, y) for slope in range(10**9))


# %% loss-by-notebook-size
# title = "The sum of the squares is divided by the notebook's number of samples"
# fails.loss-tests = ["loss.fixed-size"]
def loss(slope, offset, x, y):
    return np.sum((slope * x + offset - y) ** 2) / num_samples


# %% loss-is-a-root
# title = "The root of the mean squared error"
# fails.loss-tests = ["loss.root"]
def loss(slope, offset, x, y):
    return np.sqrt(np.mean((slope * x + offset - y) ** 2))


# %% loss-is-a-sum
# title = "The errors are added up, not averaged"
# fails.loss-tests = ["mean.missing"]
def loss(slope, offset, x, y):
    return np.sum((slope * x + offset - y) ** 2)


# %% loss-only-printed
# title = "The loss is printed and not returned"
# fails.loss-tests = ["answer.wrong-type"]
# fails.is-stable-tests = []
# -    return np.mean(errors**2)
# +    print(np.mean(errors**2))


# %% loss-per-sample
# title = "The mean is forgotten, so the loss is an array"
# fails.loss-tests = ["mean.missing"]
# fails.is-stable-tests = []
def loss(slope, offset, x, y):
    return (slope * x + offset - y) ** 2


# %% loss-without-parentheses
# title = "The parentheses after mean are forgotten"
# fails.loss-tests = ["answer.raised"]
# fails.is-stable-tests = []
# -    return np.mean(errors**2)
# +    return (errors**2).mean

# %% noisy
# title = "Right answers that print and warn, on stdout and on stderr"
import sys
import warnings


def loss(slope, offset, x, y):
    warnings.warn("this is deprecated, somewhere")
    print("computing the loss", file=sys.stderr)
    os_write = __import__("os").write
    os_write(2, b"a line on file descriptor 2, as TensorFlow's C++ code writes it\n")
    return ((slope * x + offset - y) ** 2).mean()


# %% id="is-stable"
def is_stable(learning_rate, x, y):
    """Gemessen wird, ob der Abstand vom Optimum schrumpft."""
    best = np.polyfit(x, y, 1)
    point = best + 1.0
    for number in range(200):
        point = np.array(step(*point, x, y, learning_rate))
        if number % 100 == 0:
            print("Schritt", number, point, file=sys.stderr)
    return np.abs(point - best).max() < 1.0


# %% plain-python
# title = "Loops over lists, no NumPy at all"
def loss(slope: float, offset: float, x, y) -> float:
    total = 0.0
    for a, b in zip(list(x), list(y)):
        total += (slope * a + offset - b) ** 2
    return total / len(x)


# %% id="gradient"
def gradient(m, n, x, y):
    pairs = list(zip(x, y))
    d_m = sum(2 * (m * a + n - b) * a for a, b in pairs) / len(pairs)
    d_n = sum(2 * (m * a + n - b) for a, b in pairs) / len(pairs)
    return [d_m, d_n]


# %% id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    count = 0
    for epoch in range(num_epochs):
        for first in range(0, num_samples, batch_size):
            count += 1
    return count


# %% tensors
# title = "TensorFlow everywhere, also where NumPy would do"
import tensorflow as tf


def loss(slope, offset, x, y):
    return tf.reduce_mean(tf.square(slope * x + offset - y))


# %% id="gradient"
def gradient(slope, offset, x, y):
    slope, offset = tf.constant(slope, tf.float64), tf.constant(offset, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch([slope, offset])
        value = loss(slope, offset, x, y)
    return tape.gradient(value, [slope, offset])


# %% id="hessian"
def hessian(x):
    mean = tf.reduce_mean(x)
    return 2 * tf.stack([[tf.reduce_mean(x * x), mean], [mean, tf.ones_like(mean)]])


# %% way-out-everywhere
# title = "Stuck at every piece that has a way out, and through with the rest"
# fails.loss-tests = ["answer.taken"]
# fails.gradient-tests = ["answer.taken"]
# fails.step-tests = ["answer.taken"]
# fails.batches-tests = ["answer.taken"]
# fails.is-stable-tests = ["answer.taken"]
# fails.hessian-tests = ["answer.taken"]
from coursekit.solution_snippet import take

loss = take(
    "bG9zcwoKZGVmIGxvc3Moc2xvcGUsIG9mZnNldCwgeCwgeSk6CiAgICAiIiJSZXR1cm4gdGhlIG1lYW4gc3F1YXJlZCBlcnJvciBvZiB0aGUgbGluZSBvdmVyIHRoZSBzYW1wbGVzIHgsIHkuIiIiCiAgICAjIGFib3V0IDIgbGluZXMKICAgIGVycm9ycyA9IHNsb3BlICogeCArIG9mZnNldCAtIHkKICAgIHJldHVybiBucC5tZWFuKGVycm9ycyoqMik="
)

# %% id="gradient"
from coursekit.solution_snippet import take

gradient = take(
    "Z3JhZGllbnQKCmRlZiBncmFkaWVudChzbG9wZSwgb2Zmc2V0LCB4LCB5KToKICAgICIiIlJldHVybiB0aGUgZGVyaXZhdGl2ZXMgb2YgdGhlIGxvc3MgYWxvbmcgc2xvcGUgYW5kIG9mZnNldC4iIiIKICAgICMgYWJvdXQgMiBsaW5lcwogICAgZXJyb3JzID0gc2xvcGUgKiB4ICsgb2Zmc2V0IC0geQogICAgcmV0dXJuIG5wLm1lYW4oMiAqIGVycm9ycyAqIHgpLCBucC5tZWFuKDIgKiBlcnJvcnMp"
)

# %% id="step"
from coursekit.solution_snippet import take

step = take(
    "c3RlcAoKZGVmIHN0ZXAoc2xvcGUsIG9mZnNldCwgeCwgeSwgbGVhcm5pbmdfcmF0ZSk6CiAgICAiIiJSZXR1cm4gc2xvcGUgYW5kIG9mZnNldCBhZnRlciBvbmUgc3RlcCBvZiBncmFkaWVudCBkZXNjZW50IG9uIHRoZSBzYW1wbGVzIHgsIHkuIiIiCiAgICAjIGFib3V0IDIgbGluZXMKICAgIGRfc2xvcGUsIGRfb2Zmc2V0ID0gZ3JhZGllbnQoc2xvcGUsIG9mZnNldCwgeCwgeSkKICAgIHJldHVybiBzbG9wZSAtIGxlYXJuaW5nX3JhdGUgKiBkX3Nsb3BlLCBvZmZzZXQgLSBsZWFybmluZ19yYXRlICogZF9vZmZzZXQ="
)

# %% id="batches"
from coursekit.solution_snippet import take

batches = take(
    "YmF0Y2hlcwoKZGVmIGJhdGNoZXMoeCwgeSwgYmF0Y2hfc2l6ZSwgcm5nKToKICAgICIiIllpZWxkIG9uZSBlcG9jaCBvZiAoeCwgeSkgYmF0Y2hlcyBpbiByYW5kb20gb3JkZXIuIiIiCiAgICAjIGFib3V0IDQgbGluZXMKICAgIG9yZGVyID0gcm5nLnBlcm11dGF0aW9uKGxlbih4KSkKICAgIGZvciBmaXJzdCBpbiByYW5nZSgwLCBsZW4oeCksIGJhdGNoX3NpemUpOgogICAgICAgIHBpY2tlZCA9IG9yZGVyW2ZpcnN0IDogZmlyc3QgKyBiYXRjaF9zaXplXQogICAgICAgIHlpZWxkIHhbcGlja2VkXSwgeVtwaWNrZWRd"
)

# %% id="is-stable"
from coursekit.solution_snippet import take

is_stable = take(
    "c3RhYmlsaXR5IGJ5IGV4cGVyaW1lbnQKCmRlZiBpc19zdGFibGUobGVhcm5pbmdfcmF0ZSwgeCwgeSk6CiAgICAiIiJSZXR1cm4gd2hldGhlciBncmFkaWVudCBkZXNjZW50IG9uIGFsbCBzYW1wbGVzIHNldHRsZXMgd2l0aCB0aGlzIGxlYXJuaW5nIHJhdGUuIiIiCiAgICAjIGFib3V0IDQgbGluZXMKICAgIHBvaW50ID0gKDAuNSwgMC44KQogICAgZm9yIF8gaW4gcmFuZ2UoMjAwKToKICAgICAgICBwb2ludCA9IHN0ZXAoKnBvaW50LCB4LCB5LCBsZWFybmluZ19yYXRlKQogICAgcmV0dXJuIGJvb2wobG9zcygqcG9pbnQsIHgsIHkpIDw9IGxvc3MoMC41LCAwLjgsIHgsIHkpKQ=="
)

# %% id="hessian"
from coursekit.solution_snippet import take

hessian = take(
    "SGVzc2lhbgoKZGVmIGhlc3NpYW4oeCk6CiAgICAiIiJSZXR1cm4gdGhlIG1hdHJpeCBvZiBzZWNvbmQgZGVyaXZhdGl2ZXMgb2YgdGhlIGxvc3MsIHNoYXBlICgyLCAyKSwgaW4gdGhlIG9yZGVyIHNsb3BlLCBvZmZzZXQuIiIiCiAgICAjIGFib3V0IDEgbGluZQogICAgcmV0dXJuIDIgKiBucC5hcnJheShbW25wLm1lYW4oeCAqIHgpLCBucC5tZWFuKHgpXSwgW25wLm1lYW4oeCksIDEuMF1dKQ=="
)
