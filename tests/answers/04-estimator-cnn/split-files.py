# %% split-from-the-front
# title = "The first files are held out"
# fails.split-tests = ["split.not-last"]
# -    return files[:place], files[place:]
# +    return files[num_held_out:], files[:num_held_out]

# %% split-loses-one
# title = "Below the place for training, above it held out: the file at the place is in neither"
# fails.split-tests = ["split.incomplete"]
# -    return files[:place], files[place:]
# +    return files[:place], files[place + 1 :]

# %% split-minus-zero
# title = "Counted from the back, which holds out everything when nothing is to be held out"
# fails.split-tests = ["split.wrong-size"]
def split_files(files, num_held_out):
    return files[:-num_held_out], files[-num_held_out:]


# %% split-one-in-both
# title = "The file at the place is trained on and held out"
# fails.split-tests = ["split.overlap"]
# -    return files[:place], files[place:]
# +    return files[: place + 1], files[place:]


# %% split-sorts
# title = "The files are sorted by name first"
# fails.split-tests = ["split.not-last"]
# +    files = sorted(files)
#      place = len(files) - num_held_out


# %% split-pops
# title = "The files are taken out of the list that was given"
# fails.split-tests = ["data.changed"]
def split_files(files, num_held_out):
    return files, [files.pop() for _ in range(num_held_out)]


# %% way-out-of-the-functions
# title = "Input, model, configuration and evaluation are taken from the solution, the training is one's own"
# fails.split-tests = ["answer.taken"]
# fails.input-shards-tests = ["answer.taken"]
# fails.input-modes-tests = ["answer.taken"]
# fails.model-modes-tests = ["answer.taken"]
# fails.model-average-tests = ["answer.taken"]
# fails.model-rate-tests = ["answer.taken"]
# fails.model-updates-tests = ["answer.taken"]
# fails.config-pin-tests = ["answer.taken"]
# fails.config-files-tests = ["answer.taken"]
# fails.evaluate-once-tests = ["answer.taken"]
# fails.evaluate-accuracy-tests = ["answer.taken"]
# fails.tf-config-tests = ["answer.taken"]
from coursekit.solution_snippet import take

split_files = take(
    "c3BsaXQgb2YgdGhlIGZpbGVzCgpkZWYgc3BsaXRfZmlsZXMoZmlsZXMsIG51bV9oZWxkX291dCk6CiAgICAiIiJSZXR1cm4gdGhlIGZpbGVzIGZvciB0cmFpbmluZyBhbmQgdGhvc2UgdGhhdCBhcmUgaGVsZCBvdXQsIHR3byBsaXN0cy4iIiIKICAgICMgYWJvdXQgMiBsaW5lcwogICAgcGxhY2UgPSBsZW4oZmlsZXMpIC0gbnVtX2hlbGRfb3V0CiAgICByZXR1cm4gZmlsZXNbOnBsYWNlXSwgZmlsZXNbcGxhY2U6XQ=="
)

# %% id="input-fn"
from coursekit.solution_snippet import take

input_fn = take(
    "c2hhcmRzCmRhdGEgZm9yIHRyYWluaW5nIGFuZCBmb3IgZXZhbHVhdGlvbgoKZGVmIGlucHV0X2ZuKGZpbGVzLCB0cmFpbmluZywgd29ya2VyLCBudW1fd29ya2VycywgcGFyYW1zKToKICAgICIiIlJldHVybiB0aGlzIHdvcmtlcidzIGJhdGNoZXMgb2YgaW1hZ2VzIGFuZCBsYWJlbHM7IHdpdGhvdXQgZW5kIGZvciB0cmFpbmluZy4iIiIKICAgICMgYWJvdXQgNCBsaW5lcwogICAgcmVjb3JkcyA9IHJlYWRfZmlsZXMoZmlsZXNbd29ya2VyOjpudW1fd29ya2Vyc10pCiAgICBpZiB0cmFpbmluZzoKICAgICAgICByZWNvcmRzID0gcmVjb3Jkcy5zaHVmZmxlKDEwMDAsIHNlZWQ9cGFyYW1zWyJzZWVkIl0pLnJlcGVhdCgpCiAgICByZXR1cm4gbWFrZV9iYXRjaGVzKHJlY29yZHMsIHRyYWluaW5nLCBwYXJhbXMp"
)

# %% id="model-fn"
from coursekit.solution_snippet import take

model_fn = take(
    "bW9kZXMKYXZlcmFnZWQgZ3JhZGllbnRzCmxlYXJuaW5nIHJhdGUKbW92aW5nIGF2ZXJhZ2VzCgpkZWYgbW9kZWxfZm4oZmVhdHVyZXMsIGxhYmVscywgbW9kZSwgcGFyYW1zKToKICAgICIiIlJldHVybiB3aGF0IGlzIHRvIGJlIGRvbmUgd2l0aCBhIGJhdGNoIGluIHRoaXMgbW9kZSwgYW4gRXN0aW1hdG9yU3BlYy4iIiIKICAgICMgYWJvdXQgMTYgbGluZXMKICAgIHRyYWluaW5nID0gbW9kZSA9PSB0Zi5lc3RpbWF0b3IuTW9kZUtleXMuVFJBSU4KICAgIG5ldHdvcmsgPSBwYXJhbXNbImJ1aWxkIl0oKQogICAgbG9naXRzID0gbmV0d29yayhmZWF0dXJlcywgdHJhaW5pbmc9dHJhaW5pbmcpCiAgICBjbGFzc2VzID0gdGYuYXJnbWF4KGxvZ2l0cywgYXhpcz0xKQogICAgaWYgbW9kZSA9PSB0Zi5lc3RpbWF0b3IuTW9kZUtleXMuUFJFRElDVDoKICAgICAgICByZXR1cm4gdGYuZXN0aW1hdG9yLkVzdGltYXRvclNwZWMobW9kZSwgcHJlZGljdGlvbnM9eyJjbGFzc2VzIjogY2xhc3Nlc30pCiAgICBsb3NzID0gdGYuY29tcGF0LnYxLmxvc3Nlcy5zcGFyc2Vfc29mdG1heF9jcm9zc19lbnRyb3B5KGxhYmVscywgbG9naXRzKQogICAgaWYgbW9kZSA9PSB0Zi5lc3RpbWF0b3IuTW9kZUtleXMuRVZBTDoKICAgICAgICBtZXRyaWNzID0geyJhY2N1cmFjeSI6IHRmLmNvbXBhdC52MS5tZXRyaWNzLmFjY3VyYWN5KGxhYmVscywgY2xhc3Nlcyl9CiAgICAgICAgcmV0dXJuIHRmLmVzdGltYXRvci5Fc3RpbWF0b3JTcGVjKG1vZGUsIGxvc3M9bG9zcywgZXZhbF9tZXRyaWNfb3BzPW1ldHJpY3MpCiAgICByYXRlID0gcGFyYW1zWyJsZWFybmluZ19yYXRlIl0gKiBodmQuc2l6ZSgpCiAgICBvcHRpbWl6ZXIgPSBodmQuRGlzdHJpYnV0ZWRPcHRpbWl6ZXIodGYuY29tcGF0LnYxLnRyYWluLk1vbWVudHVtT3B0aW1pemVyKHJhdGUsIG1vbWVudHVtPTAuOSksIGdyb3Vwcz0xKQogICAgd2l0aCB0Zi5jb250cm9sX2RlcGVuZGVuY2llcyhuZXR3b3JrLmdldF91cGRhdGVzX2ZvcihmZWF0dXJlcykpOgogICAgICAgIHRyYWluX29wID0gb3B0aW1pemVyLm1pbmltaXplKGxvc3MsIHRmLmNvbXBhdC52MS50cmFpbi5nZXRfZ2xvYmFsX3N0ZXAoKSkKICAgIHJldHVybiB0Zi5lc3RpbWF0b3IuRXN0aW1hdG9yU3BlYyhtb2RlLCBsb3NzPWxvc3MsIHRyYWluX29wPXRyYWluX29wKQ=="
)

# %% id="make-run-config"
from coursekit.solution_snippet import take

make_run_config = take(
    "R1BVIHBpbm5pbmcKZmlsZXMgYW5kIHNlZWQKCmRlZiBtYWtlX3J1bl9jb25maWcoZm9sZGVyKToKICAgICIiIlJldHVybiB0aGlzIHJhbmsncyBSdW5Db25maWc6IGl0cyBHUFUsIGFuZCBvbiByYW5rIDAgdGhlIGZvbGRlciBmb3IgY2hlY2twb2ludHMgYW5kIHN1bW1hcmllcy4iIiIKICAgICMgYWJvdXQgNyBsaW5lcwogICAgc2Vzc2lvbl9jb25maWcgPSBuZXdfc2Vzc2lvbl9jb25maWcoKQogICAgc2Vzc2lvbl9jb25maWcuZ3B1X29wdGlvbnMudmlzaWJsZV9kZXZpY2VfbGlzdCA9IHN0cihodmQubG9jYWxfcmFuaygpKQogICAgc2Vzc2lvbl9jb25maWcuZ3B1X29wdGlvbnMuYWxsb3dfZ3Jvd3RoID0gVHJ1ZQogICAgd3JpdGluZyA9IHsibW9kZWxfZGlyIjogZm9sZGVyLCAic2F2ZV9jaGVja3BvaW50c19zdGVwcyI6IDEwMH0KICAgIHNpbGVudCA9IHsic2F2ZV9jaGVja3BvaW50c19zdGVwcyI6IE5vbmUsICJzYXZlX2NoZWNrcG9pbnRzX3NlY3MiOiBOb25lLCAic2F2ZV9zdW1tYXJ5X3N0ZXBzIjogTm9uZX0KICAgIGZpbGVzID0gd3JpdGluZyBpZiBodmQucmFuaygpID09IDAgZWxzZSBzaWxlbnQKICAgIHJldHVybiB0Zi5lc3RpbWF0b3IuUnVuQ29uZmlnKHNlc3Npb25fY29uZmlnPXNlc3Npb25fY29uZmlnLCB0Zl9yYW5kb21fc2VlZD1zZWVkLCAqKmZpbGVzKQ=="
)

# %% id="evaluate"
from coursekit.solution_snippet import take

evaluate = take(
    "ZXZhbHVhdGVkIG9uY2UKYWNjdXJhY3kgb2YgYWxsIHNoYXJkcwoKZGVmIGV2YWx1YXRlKGVzdGltYXRvciwgZmlsZXMsIHBhcmFtcyk6CiAgICAiIiJSZXR1cm4gdGhlIGFjY3VyYWN5IG92ZXIgYWxsIGltYWdlcyBpbiB0aGUgZmlsZXMsIGFzIHsiYWNjdXJhY3kiOiDigKZ9OyBvbiByYW5rIDAgYXQgbGVhc3QuIiIiCiAgICAjIGFib3V0IDcgbGluZXMKICAgIGNoZWNrcG9pbnQgPSBodmQuYnJvYWRjYXN0X29iamVjdChlc3RpbWF0b3IubGF0ZXN0X2NoZWNrcG9pbnQoKSwgcm9vdF9yYW5rPTApCiAgICBvd24gPSBsYW1iZGE6IGlucHV0X2ZuKGZpbGVzLCBGYWxzZSwgaHZkLnJhbmsoKSwgaHZkLnNpemUoKSwgcGFyYW1zKQogICAgYWNjdXJhY3kgPSBlc3RpbWF0b3IuZXZhbHVhdGUob3duLCBjaGVja3BvaW50X3BhdGg9Y2hlY2twb2ludClbImFjY3VyYWN5Il0KICAgIG51bV9waWN0dXJlcyA9IGltYWdlbmV0LmNvdW50X2ltYWdlcyhmaWxlc1todmQucmFuaygpIDo6IGh2ZC5zaXplKCldKQogICAgbnVtX3JpZ2h0LCBudW1fcGljdHVyZXMgPSBodmQuYWxscmVkdWNlKHRmLmNvbnN0YW50KFthY2N1cmFjeSAqIG51bV9waWN0dXJlcywgbnVtX3BpY3R1cmVzXSksIG9wPWh2ZC5TdW0pCiAgICByZXR1cm4geyJhY2N1cmFjeSI6IGZsb2F0KG51bV9yaWdodCAvIG51bV9waWN0dXJlcyl9"
)

# %% id="tf-config"
from coursekit.solution_snippet import take

tf_config = take(
    "VEZfQ09ORklHCgpkZWYgdGZfY29uZmlnKGhvc3RzLCBpbmRleCk6CiAgICAiIiJSZXR1cm4gdGhlIHZhbHVlIG9mIFRGX0NPTkZJRyBmb3Igb25lIHdvcmtlcjsgYGhvc3RzYCBpcyB0aGUgbGlzdCBvZiBhbGwgd29ya2VycycgYWRkcmVzc2VzLiIiIgogICAgIyBhYm91dCAxIGxpbmUKICAgIHJldHVybiBqc29uLmR1bXBzKHsiY2x1c3RlciI6IHsid29ya2VyIjogaG9zdHN9LCAidGFzayI6IHsidHlwZSI6ICJ3b3JrZXIiLCAiaW5kZXgiOiBpbmRleH19KQ=="
)
