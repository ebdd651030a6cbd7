# /// answer
# title = "The broadcast comes after the training"
#
# [fails]
# horovod-start-tests = ["not broadcast"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    broadcast_start(variables)

#              history.append([float(slope.numpy()), float(offset.numpy())])
# +    broadcast_start(variables)
# +    history[-1] = [float(slope.numpy()), float(offset.numpy())]
