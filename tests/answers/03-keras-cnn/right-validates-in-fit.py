# /// answer
# title = "fit validates after each epoch, too"
# ///

# %% role="changes" id="train"
#          steps_per_epoch=num_steps,
# +        validation_data=make_dataset(validation_files, batch_size, training=False),
