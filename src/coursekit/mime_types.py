"""Types of outputs by which notebooks tell programs what people read in pictures."""

SPEED = "application/vnd.coursekit.speed+json"
"""Training speed: `{"num_ranks": 2, "images_per_s": 61.5}`, of all ranks together."""
