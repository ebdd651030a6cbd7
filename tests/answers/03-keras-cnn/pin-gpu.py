# %% pin-by-rank
# title = "The GPU is chosen by the rank"
# fails.pin-gpu-tests = ["gpu.wrong"]
# consequences = ["train-tests", "continued-tests"]
def pin_gpu():
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.rank() % len(gpus)], "GPU")


# %% pin-grows-the-first
# title = "The memory of GPU 0 may grow, on every rank"
# fails.pin-gpu-tests = ["gpu.no-growth"]
# -        tf.config.experimental.set_memory_growth(gpus[hvd.local_rank()], True)
# +        tf.config.experimental.set_memory_growth(gpus[0], True)

# %% pin-grows-by-rank
# title = "The GPU of the local rank is visible, that of the rank may grow"
# fails.pin-gpu-tests = ["gpu.no-growth"]
# -        tf.config.experimental.set_memory_growth(gpus[hvd.local_rank()], True)
# +        tf.config.experimental.set_memory_growth(gpus[hvd.rank() % len(gpus)], True)


# %% right-what-is-visible-may-grow
# title = "A slice takes the GPU, and what is visible may grow"
def pin_gpu():
    local = hvd.local_rank()
    mine = tf.config.list_physical_devices("GPU")[local : local + 1]
    if mine:
        tf.config.set_visible_devices(mine, "GPU")
    for gpu in tf.config.get_visible_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)


# %% right-all-gpus-may-grow
# title = "The memory of all GPUs may grow, and then one is made visible"
def pin_gpu():
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, enable=True)
    if gpus:
        tf.config.set_visible_devices([gpus[hvd.local_rank()]], "GPU")


# %% way-out-of-the-pieces
# title = "The pieces of the training are taken from the solution, the training and the step are one's own"
# fails.pin-gpu-tests = ["answer.taken"]
# fails.load-picture-tests = ["answer.taken"]
# fails.shards-tests = ["answer.taken"]
# fails.order-tests = ["answer.taken"]
# fails.plan-tests = ["answer.taken"]
# fails.elastic-tests = ["answer.taken"]
# fails.warmed-up-tests = ["answer.taken"]
# fails.optimizer-tests = ["answer.taken"]
# fails.compression-tests = ["answer.taken"]
# fails.start-tests = ["answer.taken"]
# fails.metrics-tests = ["answer.taken"]
# fails.files-tests = ["answer.taken"]
# fails.resume-tests = ["answer.taken"]
# fails.evaluate-tests = ["answer.taken"]
from coursekit.solution_snippet import take

pin_gpu = take(
    "R1BVIHBpbm5pbmcKCmRlZiBwaW5fZ3B1KCk6CiAgICAiIiJNYWtlIHRoZSBHUFUgb2YgdGhpcyByYW5rJ3MgbG9jYWwgcmFuayB0aGUgb25seSB2aXNpYmxlIG9uZTsgd2l0aG91dCBHUFVzIGRvIG5vdGhpbmcuIiIiCiAgICAjIGFib3V0IDQgbGluZXMKICAgIGdwdXMgPSB0Zi5jb25maWcubGlzdF9waHlzaWNhbF9kZXZpY2VzKCJHUFUiKQogICAgaWYgZ3B1czoKICAgICAgICB0Zi5jb25maWcuc2V0X3Zpc2libGVfZGV2aWNlcyhncHVzW2h2ZC5sb2NhbF9yYW5rKCldLCAiR1BVIikKICAgICAgICB0Zi5jb25maWcuZXhwZXJpbWVudGFsLnNldF9tZW1vcnlfZ3Jvd3RoKGdwdXNbaHZkLmxvY2FsX3JhbmsoKV0sIFRydWUp"
)

# %% id="load-picture"
from coursekit.solution_snippet import take

load_picture = take(
    "cGljdHVyZXMKCmRlZiBsb2FkX3BpY3R1cmUocmVjb3JkLCB0cmFpbmluZyk6CiAgICAiIiJSZXR1cm4gYSByZWNvcmQncyBpbWFnZSwgY3V0IGF0IHJhbmRvbSBmb3IgdHJhaW5pbmcsIGFuZCBpdHMgbGFiZWwuIiIiCiAgICAjIGFib3V0IDcgbGluZXMKICAgIGVuY29kZWQsIGxhYmVsID0gaW1hZ2VuZXQucGFyc2VfcmVjb3JkKHJlY29yZCkKICAgIHdpbmRvdyA9IHJhbmRvbV93aW5kb3coZW5jb2RlZCkgaWYgdHJhaW5pbmcgZWxzZSBjZW50cmFsX3dpbmRvdyhlbmNvZGVkKQogICAgcGljdHVyZSA9IHRmLmlvLmRlY29kZV9hbmRfY3JvcF9qcGVnKGVuY29kZWQsIHdpbmRvdywgY2hhbm5lbHM9MykKICAgIHBpY3R1cmUgPSB0Zi5pbWFnZS5yZXNpemUocGljdHVyZSwgKGltYWdlX3NpemUsIGltYWdlX3NpemUpKQogICAgaWYgdHJhaW5pbmc6CiAgICAgICAgcGljdHVyZSA9IHRmLmltYWdlLnJhbmRvbV9mbGlwX2xlZnRfcmlnaHQocGljdHVyZSkKICAgIHJldHVybiBwaWN0dXJlIC8gMTI3LjUgLSAxLCBsYWJlbA=="
)

# %% id="make-dataset"
from coursekit.solution_snippet import take

make_dataset = take(
    "c2hhcmRzCmJhdGNoZXMgYW5kIHRoZWlyIG9yZGVyCgpkZWYgbWFrZV9kYXRhc2V0KGZpbGVzLCBiYXRjaF9zaXplLCB0cmFpbmluZywgZGV0ZXJtaW5pc3RpYz1UcnVlKToKICAgICIiIlJldHVybiB0aGlzIHJhbmsncyBiYXRjaGVzIG9mIGltYWdlcyBhbmQgbGFiZWxzOyB3aXRob3V0IGVuZCBpbiB0cmFpbmluZy4iIiIKICAgICMgYWJvdXQgMTEgbGluZXMKICAgIGZpbGVzID0gZmlsZXNbaHZkLnJhbmsoKSA6OiBodmQuc2l6ZSgpXQogICAgZGF0YXNldCA9IHRmLmRhdGEuRGF0YXNldC5mcm9tX3RlbnNvcl9zbGljZXMoZmlsZXMpCiAgICBpZiB0cmFpbmluZzoKICAgICAgICBkYXRhc2V0ID0gZGF0YXNldC5zaHVmZmxlKGxlbihmaWxlcyksIHNlZWQ9c2VlZCkKICAgIHJlYWQgPSBsYW1iZGEgZmlsZTogaW1hZ2VuZXQucmVhZF9yZWNvcmRzKGZpbGUsIGRhbWFnZWQpCiAgICBkYXRhc2V0ID0gZGF0YXNldC5pbnRlcmxlYXZlKHJlYWQsIGN5Y2xlX2xlbmd0aD00LCBudW1fcGFyYWxsZWxfY2FsbHM9dGYuZGF0YS5BVVRPVFVORSwgZGV0ZXJtaW5pc3RpYz1kZXRlcm1pbmlzdGljKQogICAgaWYgdHJhaW5pbmc6CiAgICAgICAgZGF0YXNldCA9IGRhdGFzZXQuc2h1ZmZsZSgxMDAwLCBzZWVkPXNlZWQpLnJlcGVhdCgpCiAgICBsb2FkID0gbGFtYmRhIHJlY29yZDogbG9hZF9waWN0dXJlKHJlY29yZCwgdHJhaW5pbmcpCiAgICBkYXRhc2V0ID0gZGF0YXNldC5tYXAobG9hZCwgbnVtX3BhcmFsbGVsX2NhbGxzPXRmLmRhdGEuQVVUT1RVTkUsIGRldGVybWluaXN0aWM9ZGV0ZXJtaW5pc3RpYykKICAgIHJldHVybiBkYXRhc2V0LmJhdGNoKGJhdGNoX3NpemUsIGRyb3BfcmVtYWluZGVyPXRyYWluaW5nKS5wcmVmZXRjaCh0Zi5kYXRhLkFVVE9UVU5FKQ=="
)

# %% id="plan"
from coursekit.solution_snippet import take

plan = take(
    "YmF0Y2ggc2l6ZSwgcmF0ZSBhbmQgc3RlcHMKZWxhc3RpYyBiYXRjaAoKZGVmIHBsYW4obnVtX2ltYWdlcywgYmF0Y2hfc2l6ZSwgbGVhcm5pbmdfcmF0ZSwgZ2xvYmFsX2JhdGNoX3NpemU9MCk6CiAgICAiIiJSZXR1cm4gdGhlIGJhdGNoIHNpemUgb2YgYSByYW5rLCB0aGUgbGVhcm5pbmcgcmF0ZSBmb3IgdGhlIGdsb2JhbCBiYXRjaCwgYW5kIHRoZSBzdGVwcyBvZiBhbiBlcG9jaC4iIiIKICAgICMgYWJvdXQgNCBsaW5lcwogICAgYmF0Y2hfb2ZfcmFuayA9IGdsb2JhbF9iYXRjaF9zaXplIC8vIGh2ZC5zaXplKCkgaWYgZ2xvYmFsX2JhdGNoX3NpemUgZWxzZSBiYXRjaF9zaXplCiAgICBpbl9hX3N0ZXAgPSBiYXRjaF9vZl9yYW5rICogaHZkLnNpemUoKQogICAgbnVtX3N0ZXBzID0gbWF4KDEsIG51bV9pbWFnZXMgLy8gaW5fYV9zdGVwKQogICAgcmV0dXJuIGJhdGNoX29mX3JhbmssIGxlYXJuaW5nX3JhdGUgKiBpbl9hX3N0ZXAgLyBiYXRjaF9zaXplLCBudW1fc3RlcHM="
)

# %% id="warmed-up"
from coursekit.solution_snippet import take

warmed_up = take(
    "d2FybS11cAoKZGVmIHdhcm1lZF91cChzdGVwLCByYXRlLCBudW1fd2FybXVwX3N0ZXBzKToKICAgICIiIlJldHVybiB0aGUgbGVhcm5pbmcgcmF0ZSBpbiB0aGlzIHN0ZXAsIGNvdW50ZWQgZnJvbSAwLiIiIgogICAgIyBhYm91dCA0IGxpbmVzCiAgICBpZiBzdGVwID49IG51bV93YXJtdXBfc3RlcHM6CiAgICAgICAgcmV0dXJuIHJhdGUKICAgIHN0YXJ0ID0gcmF0ZSAvIGh2ZC5zaXplKCkKICAgIHJldHVybiBzdGFydCArIChyYXRlIC0gc3RhcnQpICogc3RlcCAvIG51bV93YXJtdXBfc3RlcHM="
)

# %% id="make-optimizer"
from coursekit.solution_snippet import take

make_optimizer = take(
    "YXZlcmFnZWQgZ3JhZGllbnRzCmNvbXByZXNzaW9uIGFuZCBncm91cHMKCmRlZiBtYWtlX29wdGltaXplcihyYXRlLCBjb21wcmVzc2lvbj0ibm9uZSIpOgogICAgIiIiUmV0dXJuIFNHRCB3aXRoIG1vbWVudHVtIDAuOSB0aGF0IGF2ZXJhZ2VzIHRoZSBncmFkaWVudHMgb3ZlciBhbGwgcmFua3MuIiIiCiAgICAjIGFib3V0IDMgbGluZXMKICAgIG9wdGltaXplciA9IHRmLmtlcmFzLm9wdGltaXplcnMuU0dEKHJhdGUsIG1vbWVudHVtPTAuOSkKICAgIGJpdHMgPSBodmQuQ29tcHJlc3Npb24uZnAxNiBpZiBjb21wcmVzc2lvbiA9PSAiZnAxNiIgZWxzZSBodmQuQ29tcHJlc3Npb24ubm9uZQogICAgcmV0dXJuIGh2ZF9rZXJhcy5EaXN0cmlidXRlZE9wdGltaXplcihvcHRpbWl6ZXIsIGNvbXByZXNzaW9uPWJpdHMsIGdyb3Vwcz1udW1fZ3JvdXBzIG9yIE5vbmUp"
)

# %% id="make-callbacks"
from coursekit.solution_snippet import take

make_callbacks = take(
    "c2FtZSBzdGFydAphdmVyYWdlZCBtZXRyaWNzCmZpbGVzCgpkZWYgbWFrZV9jYWxsYmFja3MoZm9sZGVyKToKICAgICIiIlJldHVybiB0aGlzIHJhbmsncyBjYWxsYmFja3MgZm9yIGBmaXRgLiIiIgogICAgIyBhYm91dCA4IGxpbmVzCiAgICBjYWxsYmFja3MgPSBbCiAgICAgICAgaHZkX2tlcmFzLmNhbGxiYWNrcy5Ccm9hZGNhc3RHbG9iYWxWYXJpYWJsZXNDYWxsYmFjaygwKSwKICAgICAgICBodmRfa2VyYXMuY2FsbGJhY2tzLk1ldHJpY0F2ZXJhZ2VDYWxsYmFjaygpLAogICAgXQogICAgaWYgaHZkLnJhbmsoKSA9PSAwOgogICAgICAgIGNhbGxiYWNrcy5hcHBlbmQodGYua2VyYXMuY2FsbGJhY2tzLk1vZGVsQ2hlY2twb2ludChmb2xkZXIgLyAiZXBvY2gte2Vwb2NoOjAzZH0iLCBzYXZlX3dlaWdodHNfb25seT1UcnVlKSkKICAgICAgICBjYWxsYmFja3MuYXBwZW5kKHRmLmtlcmFzLmNhbGxiYWNrcy5UZW5zb3JCb2FyZChmb2xkZXIgLyAibG9ncyIpKQogICAgcmV0dXJuIGNhbGxiYWNrcw=="
)

# %% id="resume"
from coursekit.solution_snippet import take

resume = take(
    "Y29udGludWUKCmRlZiByZXN1bWUobmV0d29yaywgZm9sZGVyKToKICAgICIiIkxvYWQgdGhlIG5ld2VzdCBjaGVja3BvaW50IG9mIHRoZSBmb2xkZXIgb24gYWxsIHJhbmtzOyByZXR1cm4gaG93IG1hbnkgZXBvY2hzIGl0IGhhcyBiZWhpbmQgaXQuIiIiCiAgICAjIGFib3V0IDggbGluZXMKICAgIG5ldHdvcmsub3B0aW1pemVyLmJ1aWxkKG5ldHdvcmsudHJhaW5hYmxlX3ZhcmlhYmxlcykKICAgIG51bV9lcG9jaHNfZG9uZSA9IDAKICAgIGNoZWNrcG9pbnQgPSB0Zi50cmFpbi5sYXRlc3RfY2hlY2twb2ludChmb2xkZXIpIGlmIGh2ZC5yYW5rKCkgPT0gMCBlbHNlIE5vbmUKICAgIGlmIGNoZWNrcG9pbnQ6CiAgICAgICAgbmV0d29yay5sb2FkX3dlaWdodHMoY2hlY2twb2ludCkKICAgICAgICBudW1fZXBvY2hzX2RvbmUgPSBpbnQoY2hlY2twb2ludC5yc3BsaXQoIi0iLCBtYXhzcGxpdD0xKVsxXSkKICAgIGh2ZC5icm9hZGNhc3RfdmFyaWFibGVzKG5ldHdvcmsudmFyaWFibGVzICsgbGlzdChuZXR3b3JrLm9wdGltaXplci52YXJpYWJsZXMpLCByb290X3Jhbms9MCkKICAgIHJldHVybiBodmQuYnJvYWRjYXN0X29iamVjdChudW1fZXBvY2hzX2RvbmUsIHJvb3RfcmFuaz0wKQ=="
)

# %% id="evaluate"
from coursekit.solution_snippet import take

evaluate = take(
    "dmFsaWRhdGlvbgoKZGVmIGV2YWx1YXRlKG5ldHdvcmssIGRhdGFzZXQpOgogICAgIiIiUmV0dXJuIGxvc3MgYW5kIG1ldHJpY3Mgb3ZlciB0aGUgZGF0YSBzZXRzIG9mIGFsbCByYW5rcyB0b2dldGhlci4iIiIKICAgICMgYWJvdXQgNCBsaW5lcwogICAgbmV0d29yay5ldmFsdWF0ZShkYXRhc2V0LCB2ZXJib3NlPTApCiAgICBzdW1zID0gdGYuc3RhY2soW1ttZXRyaWMudG90YWwsIG1ldHJpYy5jb3VudF0gZm9yIG1ldHJpYyBpbiBuZXR3b3JrLm1ldHJpY3NdKQogICAgc3VtcyA9IGh2ZC5hbGxyZWR1Y2Uoc3Vtcywgb3A9aHZkLlN1bSkubnVtcHkoKQogICAgcmV0dXJuIHttZXRyaWMubmFtZTogZmxvYXQodG90YWwgLyBjb3VudCkgZm9yIG1ldHJpYywgKHRvdGFsLCBjb3VudCkgaW4gemlwKG5ldHdvcmsubWV0cmljcywgc3Vtcyl9"
)

# %% pin-of-several-only
# title = "A single GPU is left as it is: its memory does not grow"
# fails.pin-gpu-tests = ["gpu.no-growth"]
# -    if gpus:
# +    if len(gpus) > 1:
