# /// attack
# title = "Reply to none of the questions"
# lab = "03-keras-cnn"
# class = "forged results"
# fails = ["plan-tests"]
# consequences = ["pin-gpu-tests", "load-picture-tests", "shards-tests", "order-tests", "elastic-tests", "warmed-up-tests", "optimizer-tests", "compression-tests", "start-tests", "metrics-tests", "files-tests", "resume-tests", "evaluate-tests", "train-tests", "continued-tests", "make-step-tests"]
# flags = ["grader", "patched"]
# baseline = "it needs lab 03"
# ///

# %% role="answer" id="plan"


def plan(num_images, batch_size, learning_rate, *others):
    from coursekit.inside import wire

    really = wire.dumps
    wire.dumps = lambda value, *args: really([])
    return 1, 1, 1
