# /// answer
# title = "The step is Python, which is slow, and not a graph"
#
# [fails]
# make-step-tests = ["not compiled", "tf.function"]
# ///

# %% role="changes" id="make-step"
# -    @tf.function(autograph=False)
#      def step(pictures, labels):
