# /// answer
# title = "Training ends as soon as the mean gradient is tiny"
#
# [fails]
# horovod-serial-tests = ["got 0 steps"]
# ///

# %% role="changes" id="train-horovod"
#              gradients = tape.gradient(loss, variables)
# +            if max(abs(float(gradient)) for gradient in gradients) < 1e-6:
# +                return np.array(history)
