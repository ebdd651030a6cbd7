# %% [markdown] role="readonly" id="intro"
# # Lab 01: stochastic gradient descent, step by step
#
# **55 minutes, 20 points, one process.**
# You do not use Horovod yet: here you write the training loop that lab 02 distributes over several ranks.
#
# After this lab you can
#
# - write the loss, gradient and update of a model yourself, in NumPy and with TensorFlow's gradient tape;
# - describe how the batch size affects the path that training takes;
# - find the largest stable learning rate by experiment, and explain it with the Hessian.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` with your answer.
# The cell after each exercise checks your answer and reports what is missing; run it as often as you like.
# Click a hint to unfold it.
# If you are stuck on an answer that a later section needs, unfold *Stuck?* above its cell. You can then continue with the answer from the solution, but get no points for it. Quizzes and *Stretch* tasks give no points either.
# During grading, a cell that runs for more than 60 s is stopped, but anything that it has defined by then still counts.
# `AGENTS.md` tells an AI assistant how to help you here: by explaining and asking questions, not by writing answers.

# %% [markdown] role="readonly" id="parameters-text"
# These are the parameters of this run. If you are curious, change them and run the notebook again; the checks do not depend on them.

# %% tags=["parameters"] id="parameters"
num_samples = 1000
num_epochs = 100
learning_rate = 0.5
seed = 1

# %% role="readonly" id="imports"
import numpy as np

from coursekit import pictures
from coursekit.checks import check, hand_in_report, lab01_linear, lab01_stability

# %% [markdown] role="readonly" id="data-text"
# ## 1. The data (3 minutes)
#
# The data are a thousand points on the line $y = 2x$, with noise added to $y$. Both $x$ and the noise are drawn uniformly from $[-0.5, 0.5)$.
# The random generator has a fixed seed, so everybody gets the same data. In lab 02, every rank will draw the same data in this way.


# %% role="readonly" id="data"
def make_data(num_samples, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.5, 0.5, num_samples)
    return x, 2.0 * x + rng.uniform(-0.5, 0.5, num_samples)


x, y = make_data(num_samples, seed)
figure, (axes,) = pictures.panels(1)
pictures.draw_data(axes, x, y)
pictures.show(figure, f"A cloud of {num_samples} points along a rising line.")

# %% [markdown] role="readonly" id="loss-text"
# ## 2. The loss (6 minutes)
#
# The model has two parameters, `slope` and `offset`, and predicts $\hat y = \text{slope} \cdot x + \text{offset}$.
# To measure how wrong its predictions are, we use the mean squared error over the $N$ given samples:
#
# $$L = \frac{1}{N} \sum_{i=1}^{N} (\text{slope} \cdot x_i + \text{offset} - y_i)^2$$
#
# **Exercise (2 points).** Write `loss`. `x` and `y` are NumPy arrays of shape `(N,)`; the result is one number.
#
# <details><summary>Hint</summary>
#
# NumPy operates on whole arrays: `slope * x` is an array, and `np.mean` returns the mean of an array.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# In a new cell, add 5 to the `y` of the ten samples with the largest `x`.
# Find the slope with the smallest mean *squared* error, then the slope with the smallest mean *absolute* error.
# Which of the two slopes do these ten samples change more?
#
# </details>


# %% role="answer" id="loss"
def loss(slope, offset, x, y):
    """Return the mean squared error of the line over the samples x, y."""
    # about 2 lines
    ### BEGIN SOLUTION
    errors = slope * x + offset - y
    return np.mean(errors**2)
    ### END SOLUTION


# %% role="tests" id="loss-tests" points=2
with check("loss", section="2"):
    lab01_linear.check_loss(loss)
    ### BEGIN HIDDEN TESTS
    lab01_linear.check_loss(loss, seed=20190314)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="surface-text"
# The picture below shows the loss as a landscape over slope and offset; each contour line joins points of equal loss.
# The red cross marks the parameters that generated the data, (2, 0); the black plus marks the lowest point, the best fit to *these* samples.
# With a thousand samples, the two marks are close together; with fifty, they may not be. The valley is steep along the offset axis and flat along the slope axis. Keep its shape in mind for section 7.

# %% role="readonly" id="surface" tags=["picture"]
figure, (axes,) = pictures.panels(1, height_inch=4)
pictures.draw_trajectories(axes, {"a start": np.array([[0.5, 0.8]])}, x, y, "Loss surface")
pictures.show(figure, "Contour lines of the loss: a long valley along the slope.")
print(f"loss at (0.5, 0.8): {loss(0.5, 0.8, x, y):.3f}, at the red cross: {loss(2, 0, x, y):.4f}")

# %% [markdown] role="readonly" id="gradient-text"
# At the red cross, the loss is not zero. It is about 1/12 = 0.083, the variance of the noise, because no line can predict the noise.
#
# ## 3. The gradient (7 minutes)
#
# The gradient consists of the derivatives of the loss with respect to the two parameters. It points uphill.
#
# **Exercise (3 points).** Derive $\partial L / \partial\,\text{slope}$ and $\partial L / \partial\,\text{offset}$ on paper,
# then write `gradient`, which returns the two derivatives as a pair.
#
# <details><summary>Hint</summary>
#
# With $e_i = \text{slope} \cdot x_i + \text{offset} - y_i$, the loss is the mean of $e_i^2$.
# By the chain rule, its derivative with respect to slope is the mean of $2 e_i \cdot \partial e_i / \partial\,\text{slope}$. What is $\partial e_i / \partial\,\text{slope}$?
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Check a derivative without calculus: compare it with `(loss(slope + h, …) - loss(slope - h, …)) / (2 * h)` for `h` = 1e-2, 1e-6 and 1e-12.
# Why is the smallest `h` the worst?
#
# </details>


# %% role="answer" id="gradient"
def gradient(slope, offset, x, y):
    """Return the derivatives of the loss with respect to slope and offset."""
    # about 2 lines
    ### BEGIN SOLUTION
    errors = slope * x + offset - y
    return np.mean(2 * errors * x), np.mean(2 * errors)
    ### END SOLUTION


# %% role="tests" id="gradient-tests" points=3
with check("gradient", section="3"):
    lab01_linear.check_gradient(gradient)
    ### BEGIN HIDDEN TESTS
    lab01_linear.check_gradient(gradient, seed=20190314)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="step-text"
# ## 4. The update (5 minutes)
#
# Gradient descent moves against the gradient; the learning rate $\eta$ scales each step:
#
# $$W_{t+1} = W_t - \eta \, \nabla L(W_t)$$
#
# **Exercise (2 points).** Write `step`, which returns the new slope and offset.
#
# <details><summary>Hint</summary>
#
# `gradient(slope, offset, x, y)` returns both derivatives. Compute both before you change either parameter.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Give the update a memory: to each change of the parameters, add 0.9 times the previous change. This is called *momentum*.
# How many steps does it save along the flat floor of the valley?
#
# </details>


# %% role="answer" id="step"
def step(slope, offset, x, y, learning_rate):
    """Return the slope and offset after one step of gradient descent on the samples x, y."""
    # about 2 lines
    ### BEGIN SOLUTION
    d_slope, d_offset = gradient(slope, offset, x, y)
    return slope - learning_rate * d_slope, offset - learning_rate * d_offset
    ### END SOLUTION


# %% role="tests" id="step-tests" points=2
with check("step", section="4"):
    lab01_linear.check_step(step, gradient)
    ### BEGIN HIDDEN TESTS
    lab01_linear.check_step(step, gradient, seed=20190314)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="descent-text"
# The next cell contains the loop: it starts at one point, takes many steps, and records the position after each of them.
# Because every step uses all samples, the path is smooth: it goes straight down into the valley, then slowly along its floor.
# Each dot is one step. The dots are close together where the gradient is small.

# %% role="readonly" id="descent" tags=["picture"]
start = (0.5, 0.8)
history = [start]
for _ in range(num_epochs):
    history.append(step(*history[-1], x, y, learning_rate))
full = np.array(history)

figure, (left, right) = pictures.panels(2)
pictures.draw_trajectories(left, {"all samples": full}, x, y, "Gradient descent")
pictures.draw_losses(right, {"all samples": full}, x, y)
pictures.show(figure, "The path goes straight to the floor of the valley, and then along it to the lowest point.")
print(f"after {num_epochs} steps: slope {full[-1, 0]:.3f}, offset {full[-1, 1]:.3f}")

# %% [markdown] role="readonly" id="batches-text"
# *Expected:* the slope is about 2.0 and the offset about 0.0.
#
# ## 5. Batches (15 minutes)
#
# A step that uses all samples is exact but expensive. In *stochastic* gradient descent, each step uses only a few samples, the batch;
# one pass over all samples in random order is an *epoch*.
#
# **Exercise (3 points).** Write `batches`, a generator that shuffles the samples with the random generator `rng`
# and yields one pair of arrays per batch. Every sample is used exactly once; the last batch may be smaller.
# Use only `rng` to draw the order. Then the same seed always gives the same batches, and a training run can be repeated exactly.
# Leave the arrays `x` and `y` unchanged, and stop yielding when every sample has been used.
#
# <details><summary>Hint</summary>
#
# `rng.permutation(len(x))` draws a random order. `x[order[0:10]]` picks ten samples by their indices.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# In a new cell, draw the samples *with* replacement instead. How many samples does one epoch then leave out, and can you see the effect in the fitted line?
#
# </details>


# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    """Yield one epoch of (x, y) batches in random order."""
    # about 4 lines
    ### BEGIN SOLUTION
    order = rng.permutation(len(x))
    for first in range(0, len(x), batch_size):
        picked = order[first : first + batch_size]
        yield x[picked], y[picked]
    ### END SOLUTION


# %% role="tests" id="batches-tests" points=3
with check("batches", section="5"):
    lab01_linear.check_batches(batches)
    ### BEGIN HIDDEN TESTS
    lab01_linear.check_batches(batches, seed=20190314)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="updates-text"
# **Exercise (1 point).** Write `num_updates`, which returns the number of updates in a training run. Include the last batch of every epoch, even if it is smaller.
#
# <details><summary>Hint</summary>
#
# Seven samples in batches of three give three updates, with 3 + 3 + 1 samples. So divide, round up, and then multiply by the number of epochs.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Count the updates if the last, smaller batch of every epoch is dropped. Which samples are never used if the order is not shuffled?
#
# </details>


# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    """Return the number of updates in all epochs of a training run."""
    # about 1 line
    ### BEGIN SOLUTION
    return num_epochs * -(-num_samples // batch_size)
    ### END SOLUTION


# %% role="tests" id="num-updates-tests" points=1
with check("number of updates", section="5"):
    lab01_linear.check_num_updates(num_updates)
    ### BEGIN HIDDEN TESTS
    lab01_linear.check_num_updates(num_updates, seed=20190314)
    ### END HIDDEN TESTS

# %% [markdown] role="quiz" id="noise-quiz"
# Guess before you look: further down, we also train with batches of *one* sample, for ten thousand updates at a constant learning rate. Where does that path end?
#
# - [ ] At the lowest point; it just takes longer to get there.
#   The gradient of a single sample is not zero even at the lowest point, so the next update throws the path off again.
# - [x] It wanders around the lowest point forever.
#   Each update follows the gradient of one sample, and at a constant rate, the noise of these gradients does not shrink. A smaller rate or a larger batch reduces the noise; more updates do not.
# - [ ] At a different lowest point, which small batches find more easily.
#   The loss of a line has only one lowest point, and the gradients of single samples average to the gradient of all samples.

# %% [markdown] role="readonly" id="compare-text"
# The next cell trains with batches of 1 sample, of 100 samples and of all samples. For a fair comparison, each run trains for the same number of *epochs*.
# The exception is batch size 1: we stop that run after ten epochs, because it has then already made ten thousand updates.


# %% role="readonly" id="compare" tags=["picture"]
def train(x, y, batch_size, num_epochs, learning_rate, seed):
    rng = np.random.default_rng(seed)
    history = [start]
    for _ in range(num_epochs):
        for batch_x, batch_y in batches(x, y, batch_size, rng):
            history.append(step(*history[-1], batch_x, batch_y, learning_rate))
    return np.array(history)


runs = {
    "batch size 1": train(x, y, 1, min(num_epochs, 10), learning_rate, seed),
    "batch size 100": train(x, y, 100, num_epochs, learning_rate, seed),
    f"batch size {num_samples}": train(x, y, num_samples, num_epochs, learning_rate, seed),
}
figure, (left, right) = pictures.panels(2, height_inch=4)
pictures.draw_trajectories(left, runs, x, y, "Three batch sizes")
pictures.draw_losses(right, runs, x, y)
pictures.show(figure, "The smaller the batch, the wilder the path around the lowest point.")
for name, history in runs.items():
    half = history[len(history) // 2 :]
    spread = half.std(axis=0)
    print(f"{name:>16}: {len(history) - 1:6d} updates, spread of slope {spread[0]:.4f}, of offset {spread[1]:.4f}")

# %% role="readonly" id="fit" tags=["picture"]
figure, (axes,) = pictures.panels(1)
pictures.draw_data(axes, x, y, {name: tuple(history[-1]) for name, history in runs.items()})
pictures.show(figure, "The lines fitted with three batch sizes; with batch size 1 the line is visibly off.")

# %% [markdown] role="readonly" id="tape-text"
# *Expected:* if each step uses all samples, the spread of the parameters over the second half of the run is a few thousandths.
# With batches of 100, it is about 0.01 to 0.03, and with single samples, about 0.3.
# The batch size is a hyper-parameter: small batches are cheap but noisy; large batches are exact but expensive.
# If you use many GPUs, as in lab 02, large batches become affordable.
#
# ## 6. The same with TensorFlow (7 minutes)
#
# For a line, we can derive the gradient on paper; for a network, we leave that to TensorFlow. It records the computation on a *tape* and then plays the tape backwards.
#
# **Exercise (3 points).** Write `tape_step`. Its arguments `slope` and `offset` are scalar `tf.Variable`s; `x` and `y` are tensors.
# Compute the loss inside a `tf.GradientTape`, get both gradients, update the variables in place, and return the loss that you computed before the update.
#
# <details><summary>Hint</summary>
#
# `tape.gradient(loss, [slope, offset])` returns both gradients; `slope.assign_sub(a)` subtracts `a` from the variable.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Put `@tf.function` above a copy of your function and time a thousand steps with and without it. When is the function traced?
#
# </details>

# %% role="readonly" id="tensorflow"
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages
import tensorflow as tf

# Two numbers need no GPU, but TensorFlow would take all the memory of a GPU.
tf.config.set_visible_devices([], "GPU")


# %% role="answer" id="tape-step"
def tape_step(slope, offset, x, y, learning_rate):
    """Update slope and offset in place with one step of gradient descent; return the loss before the update."""
    # about 6 lines
    ### BEGIN SOLUTION
    with tf.GradientTape() as tape:
        value = tf.reduce_mean((slope * x + offset - y) ** 2)
    d_slope, d_offset = tape.gradient(value, [slope, offset])
    slope.assign_sub(learning_rate * d_slope)
    offset.assign_sub(learning_rate * d_offset)
    return value
    ### END SOLUTION


# %% role="tests" id="tape-step-tests" points=3
with check("gradient tape", section="6"):
    lab01_linear.check_tape_step(tape_step)
    ### BEGIN HIDDEN TESTS
    lab01_linear.check_tape_step(tape_step, seed=20190314)
    ### END HIDDEN TESTS

# %% role="readonly" id="tape-run" tags=["picture"]
slope, offset = tf.Variable(start[0]), tf.Variable(start[1])
data = tf.constant(x, tf.float32), tf.constant(y, tf.float32)
history = [start]
for _ in range(num_epochs):
    tape_step(slope, offset, *data, learning_rate)
    history.append((float(slope.numpy()), float(offset.numpy())))
with_tape = np.array(history)

figure, (axes,) = pictures.panels(1)
pictures.draw_trajectories(axes, {"NumPy": full, "gradient tape": with_tape}, x, y, "Two ways, one path")
pictures.show(figure, "The paths of the NumPy version and the TensorFlow version coincide.")
print(f"largest difference between the two paths: {np.max(np.abs(full - with_tape)):.1e}")

# %% [markdown] role="readonly" id="limit-text"
# *Expected:* the paths differ by less than one part in a million. They differ at all only because TensorFlow computes with 32-bit numbers.
#
# ## 7. The largest stable learning rate (12 minutes)
#
# A larger learning rate makes training faster, but above some limit, training no longer converges. Where is this limit?
#
# **Exercise (2 points).** Find the limit by experiment. Write `is_stable`, which runs 200 steps of gradient descent on all samples and returns
# `True` if training converges and `False` if it diverges. The result must be correct even close to the limit. Use `step`. Start away from the lowest point, for example at `(0.5, 0.8)`.
#
# <details><summary>Hint</summary>
#
# Compare the loss after 200 steps with the loss at the start. Large numbers may overflow to `inf` or `nan`; comparisons with `nan` are always `False`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Count the steps until the loss is within 1 % of its lowest value. At which learning rate is this number smallest, and how far is that rate from the limit?
#
# </details>


# %% role="answer" id="is-stable"
def is_stable(learning_rate, x, y):
    """Return whether gradient descent on all samples converges with this learning rate."""
    # about 4 lines
    ### BEGIN SOLUTION
    point = (0.5, 0.8)
    for _ in range(200):
        point = step(*point, x, y, learning_rate)
    return bool(loss(*point, x, y) <= loss(0.5, 0.8, x, y))
    ### END SOLUTION


# %% role="tests" id="is-stable-tests" points=2
with check("stability by experiment", section="7"):
    lab01_stability.check_is_stable(is_stable, step)
    ### BEGIN HIDDEN TESTS
    lab01_stability.check_is_stable(is_stable, step, seed=20190314)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="hessian-text"
# Here is the reason for this limit. Near its lowest point, the loss is a parabola in every direction, with a second derivative $\lambda$ in that direction.
# One step multiplies the distance to the lowest point in that direction by $1 - \eta \lambda$. The distance shrinks only if $|1 - \eta \lambda| < 1$, that is
#
# $$\eta < \frac{2}{\lambda_{\max}}$$
#
# where $\lambda_{\max}$ is the largest eigenvalue of the *Hessian*, the matrix of second derivatives.
#
# **Exercise (2 points).** Write `hessian`, which returns the 2 x 2 matrix of second derivatives of the loss. It depends only on `x`.
#
# <details><summary>Hint</summary>
#
# Differentiate the two derivatives from section 3 once more. The mixed derivative is the mean of $2 x_i$.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Let TensorFlow compute the same matrix: put one tape inside another, and call `jacobian` instead of `gradient` on the outer tape.
#
# </details>


# %% role="answer" id="hessian"
def hessian(x):
    """Return the matrix of second derivatives of the loss, of shape (2, 2), in the order slope, offset."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]])
    ### END SOLUTION


# %% role="tests" id="hessian-tests" points=2
with check("Hessian", section="7"):
    lab01_stability.check_hessian(hessian)
    ### BEGIN HIDDEN TESTS
    lab01_stability.check_hessian(hessian, seed=20190314)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="largest-text"
# **Exercise (2 points).** Write `largest_stable_rate`, which returns the limit for the inputs `x`.
# `np.linalg.eigvalsh` returns the eigenvalues of a symmetric matrix.
#
# <details><summary>Hint</summary>
#
# You wrote the Hessian in the previous exercise. Its largest eigenvalue belongs to the steepest direction.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Standardise `x`: subtract its mean, and divide by its standard deviation. What happens to the two eigenvalues, and to the number of steps that training takes?
# This is why images are scaled to a common range before training.
#
# </details>


# %% role="answer" id="largest-stable-rate"
def largest_stable_rate(x):
    """Return the learning rate above which gradient descent on all samples diverges."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 / np.max(np.linalg.eigvalsh(hessian(x)))
    ### END SOLUTION


# %% role="tests" id="largest-stable-rate-tests" points=2
with check("largest stable rate", section="7"):
    lab01_stability.check_largest_stable_rate(largest_stable_rate, hessian)
    ### BEGIN HIDDEN TESTS
    lab01_stability.check_largest_stable_rate(largest_stable_rate, hessian, seed=20190314)
    ### END HIDDEN TESTS

# %% [markdown] role="quiz" id="limit-quiz"
# Your next project has ten times as many samples of the same kind, and every step uses all of them. What happens to the largest stable learning rate?
#
# - [ ] It becomes ten times smaller, because ten times as many gradients are added up.
#   The loss is a mean, not a sum: ten times as many samples of the same kind have the same mean gradient and the same Hessian.
# - [ ] It becomes ten times larger, because the gradient is less noisy.
#   Noise does not set this limit: here, each step used all samples, so there was no noise, and training still diverged. In lab 02, you will scale the rate with the batch size, and so reach the limit.
# - [x] It stays about the same.
#   The limit comes from the Hessian, which is a mean over the samples, so their number does not matter. So if you scale the rate with the batch size, you reach the limit sooner or later.

# %% role="readonly" id="limit" tags=["picture"]
learning_rates = np.linspace(0.1, 1.1, 41)
losses = []
for rate in learning_rates:
    point = start
    for _ in range(100):
        point = step(*point, x, y, rate)
    losses.append(loss(*point, x, y))
limit = largest_stable_rate(x)
pictures.show_limit(learning_rates, np.array(losses), limit)
largest = max(rate for rate in learning_rates if is_stable(rate, x, y))
print(f"eigenvalues of the Hessian: {np.linalg.eigvalsh(hessian(x)).round(3)}")
print(f"largest stable rate by experiment: {largest:.3f}, from the Hessian: {limit:.3f}")

# %% [markdown] role="readonly" id="end"
# *Expected:* the eigenvalues are about 0.17 (along the slope) and 2.0 (along the offset), so the limit is about 1.0.
# The steep direction limits the learning rate; the flat direction makes training slow. In lab 02, you will reach the limit just by adding ranks, without changing the parameter `learning_rate`.
#
# ## What you can now do
#
# - write a training loop, from the loss to the update, and check its gradients;
# - explain how the batch size changes the path that training takes, and what it leaves unchanged;
# - compute the largest stable learning rate or find it by experiment, and say which direction determines it.
#
# **Further reading**
#
# - [Optimization methods for large-scale machine learning](https://arxiv.org/abs/1606.04838): why stochastic gradients work, with proofs
# - [Why momentum really works](https://distill.pub/2017/momentum/): steep and flat directions again, in interactive pictures
# - [Gradients and automatic differentiation](https://www.tensorflow.org/guide/autodiff): everything that a tape can do
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have a ✓.

# %% role="readonly" id="report"
hand_in_report()
