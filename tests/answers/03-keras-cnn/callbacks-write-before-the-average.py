# /// answer
# title = "Rank 0 writes its logs before the metrics are averaged"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# metrics-tests = ["logs hold the losses of rank 0"]
# ///

# %% role="changes" id="make-callbacks"
# -        hvd_keras.callbacks.MetricAverageCallback(),

# -    return callbacks
# +    return [*callbacks, hvd_keras.callbacks.MetricAverageCallback()]
