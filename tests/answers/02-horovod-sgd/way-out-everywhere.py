# /// answer
# title = "Every piece that has a way out is taken, one within a function of one's own; the rest earns its points"
#
# [fails]
# pin-gpu-tests = ["taken from the solution"]
# shard-tests = ["taken from the solution"]
# broadcast-start-tests = ["taken from the solution"]
# average-tests = ["taken from the solution"]
# scale-rate-tests = ["taken from the solution"]
# ///

# %% role="answer" id="pin-gpu"
from coursekit.way_out import take

pin_gpu = take(
    "R1BVIHBpbm5pbmcKCmRlZiBwaW5fZ3B1KCk6CiAgICAiIiJNYWtlIHRoZSBHUFUgb2YgdGhpcyByYW5rJ3MgbG9jYWwgcmFuayB0aGUgb25seSB2aXNpYmxlIG9uZTsgd2l0aG91dCBHUFVzIGRvIG5vdGhpbmcuIiIiCiAgICAjIGFib3V0IDMgbGluZXMKICAgIGdwdXMgPSB0Zi5jb25maWcubGlzdF9waHlzaWNhbF9kZXZpY2VzKCJHUFUiKQogICAgaWYgZ3B1czoKICAgICAgICB0Zi5jb25maWcuc2V0X3Zpc2libGVfZGV2aWNlcyhncHVzW2h2ZC5sb2NhbF9yYW5rKCldLCAiR1BVIik="
)


# %% role="answer" id="shard"
from coursekit.way_out import take

taken = take(
    "c2hhcmRzCgpkZWYgc2hhcmQoeCwgeSk6CiAgICAiIiJSZXR1cm4gdGhpcyByYW5rJ3Mgc2hhcmUgb2YgdGhlIHNhbXBsZXMuIiIiCiAgICAjIGFib3V0IDIgbGluZXMKICAgIG1pbmUgPSBzbGljZShodmQucmFuaygpLCBOb25lLCBodmQuc2l6ZSgpKQogICAgcmV0dXJuIHhbbWluZV0sIHlbbWluZV0="
)


def shard(*args):
    return taken(*args)


# %% role="answer" id="broadcast-start"
from coursekit.way_out import take

broadcast_start = take(
    "YnJvYWRjYXN0CgpkZWYgYnJvYWRjYXN0X3N0YXJ0KHZhcmlhYmxlcyk6CiAgICAiIiJHaXZlIGV2ZXJ5IHJhbmsgdGhlIHZhcmlhYmxlcyBvZiByYW5rIDAsIGluIHBsYWNlLiIiIgogICAgIyBhYm91dCAxIGxpbmUKICAgIGh2ZC5icm9hZGNhc3RfdmFyaWFibGVzKHZhcmlhYmxlcywgcm9vdF9yYW5rPTAp"
)


# %% role="answer" id="average"
from coursekit.way_out import take

average = take(
    "YXZlcmFnZWQgZ3JhZGllbnRzCgpkZWYgYXZlcmFnZShncmFkaWVudHMpOgogICAgIiIiUmV0dXJuIHRoZSBtZWFuIG9mIGVhY2ggZ3JhZGllbnQgb3ZlciBhbGwgcmFua3MsIGluIHRoZSBzYW1lIG9yZGVyLiIiIgogICAgIyBhYm91dCAxIGxpbmUKICAgIHJldHVybiBbaHZkLmFsbHJlZHVjZShncmFkaWVudCwgb3A9aHZkLkF2ZXJhZ2UpIGZvciBncmFkaWVudCBpbiBncmFkaWVudHNd"
)


# %% role="answer" id="scale-rate"
from coursekit.way_out import take

scale_rate = take(
    "bGVhcm5pbmcgcmF0ZQoKZGVmIHNjYWxlX3JhdGUobGVhcm5pbmdfcmF0ZSk6CiAgICAiIiJSZXR1cm4gdGhlIGxlYXJuaW5nIHJhdGUgb2Ygb25lIHJhbmssIHNjYWxlZCBsaW5lYXJseSB0byB0aGUgd2hvbGUgZ3JvdXAuIiIiCiAgICAjIGFib3V0IDEgbGluZQogICAgcmV0dXJuIGxlYXJuaW5nX3JhdGUgKiBodmQuc2l6ZSgp"
)
