# /// answer
# title = "Right answers that print and warn, on stdout and on stderr"
# ///

# %% role="answer" id="loss"
import sys
import warnings


def loss(slope, offset, x, y):
    warnings.warn("this is deprecated, somewhere")
    print("computing the loss", file=sys.stderr)
    os_write = __import__("os").write
    os_write(2, b"a line on file descriptor 2, as TensorFlow's C++ code writes it\n")
    return ((slope * x + offset - y) ** 2).mean()


# %% role="answer" id="is-stable"
def is_stable(learning_rate, x, y):
    """Gemessen wird, ob der Abstand vom Optimum schrumpft."""
    best = np.polyfit(x, y, 1)
    point = best + 1.0
    for number in range(200):
        point = np.array(step(*point, x, y, learning_rate))
        if number % 100 == 0:
            print("Schritt", number, point, file=sys.stderr)
    return np.abs(point - best).max() < 1.0
