# /// answer
# title = "compile with run_eagerly"
# ///

# %% role="changes" id="train"
#          metrics=["accuracy"],
# +        run_eagerly=True,
