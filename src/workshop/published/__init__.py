"""Published measurements of scaling, and how well the model of `coursekit.scaling` predicts them."""
