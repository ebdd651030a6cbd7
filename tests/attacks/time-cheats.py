# %% patched-clock
# title = "Stop the clock"

# %% after="num-updates"
import time

time.time = lambda: 0.0
time.monotonic = lambda: 0.0
time.sleep = lambda seconds: None
