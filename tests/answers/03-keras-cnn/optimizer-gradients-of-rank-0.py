# /// answer
# title = "The gradients of rank 0 go to all instead of their mean"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["shares 1.00, 0.00"]
# compression-tests = []
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    class Broadcasting(tf.keras.optimizers.SGD):
        def apply_gradients(self, pairs, *args, **settings):
            gradients, variables = zip(*pairs)
            gradients = [hvd.broadcast(gradient, root_rank=0) for gradient in gradients]
            return super().apply_gradients(zip(gradients, variables), *args, **settings)

    return Broadcasting(rate, momentum=0.9)
