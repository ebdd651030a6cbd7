"""Made digits, and the store that is slow by design."""

import numpy as np

from coursekit.imagenet.digits import NUM_CLASSES, SIDE, make_digits
from coursekit.imagenet.store import DECODE, READ, TRAIN, SlowStore, Span, feed_slowly


def test_digits_follow_from_their_seed_and_can_be_told_apart():
    """The nearest mean image of other digits names most of them rightly; guessing names a tenth."""
    images, labels = make_digits(600, seed=4)
    assert (images.shape, images.dtype, set(labels.tolist())) == ((600, SIDE, SIDE), np.uint8, set(range(NUM_CLASSES)))
    assert all(np.array_equal(*pair) for pair in zip(make_digits(600, seed=4), (images, labels)))

    means = np.stack([images[:400][labels[:400] == digit].mean(axis=0) for digit in range(NUM_CLASSES)])
    distances = ((images[400:, np.newaxis] - means) ** 2).sum(axis=(2, 3))

    assert np.mean(distances.argmin(axis=1) == labels[400:]) > 0.5
    assert make_digits(0)[0].shape == (0, SIDE, SIDE)


def test_a_slow_store_delivers_all_and_notes_its_waiting():
    """Every image comes once; each record, call and step waits at least as long as it should."""
    images = np.arange(12).reshape(12, 1)
    store = SlowStore(images, num_files=3, read_s=0.002, decode_s=0.001, train_s=0.003)

    batches = store.train(feed_slowly(store, 4))

    assert np.concatenate(batches).ravel().tolist() == list(range(12))
    assert store.asked == list(range(12))
    counts = {stage: [span for span in store.spans if span.stage == stage] for stage in (READ, DECODE, TRAIN)}
    assert {stage: len(spans) for stage, spans in counts.items()} == {READ: 12, DECODE: 12, TRAIN: 3}
    assert all(span.end_s - span.begin_s >= 0.001 for span in store.spans)
    assert store.seconds >= 12 * 0.003 + 3 * 0.003


def test_what_a_stage_does_side_by_side_counts_once():
    """Three spans, of which two overlap and one lies in another; a stage without spans was never busy."""
    store = SlowStore(np.zeros((2, 1)), num_files=1)
    store.spans = [Span(READ, 5.0, 6.0), Span(READ, 0.0, 2.0), Span(READ, 1.0, 3.0), Span(READ, 1.2, 1.5)]

    assert [store.busy_s(stage) for stage in (READ, DECODE)] == [4.0, 0.0]
