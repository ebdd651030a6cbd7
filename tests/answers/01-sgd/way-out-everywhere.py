# /// answer
# title = "Stuck at every piece that has a way out, and through with the rest"
#
# [fails]
# loss-tests = ["taken from the solution"]
# gradient-tests = ["taken from the solution"]
# step-tests = ["taken from the solution"]
# batches-tests = ["taken from the solution"]
# is-stable-tests = ["taken from the solution"]
# hessian-tests = ["taken from the solution"]
# ///

# %% role="answer" id="loss"
from coursekit.way_out import take

loss = take(
    "bG9zcwoKZGVmIGxvc3Moc2xvcGUsIG9mZnNldCwgeCwgeSk6CiAgICAiIiJSZXR1cm4gdGhlIG1lYW4gc3F1YXJlZCBlcnJvciBvZiB0aGUgbGluZSBvdmVyIHRoZSBzYW1wbGVzIHgsIHkuIiIiCiAgICAjIGFib3V0IDIgbGluZXMKICAgIGVycm9ycyA9IHNsb3BlICogeCArIG9mZnNldCAtIHkKICAgIHJldHVybiBucC5tZWFuKGVycm9ycyoqMik="
)


# %% role="answer" id="gradient"
from coursekit.way_out import take

gradient = take(
    "Z3JhZGllbnQKCmRlZiBncmFkaWVudChzbG9wZSwgb2Zmc2V0LCB4LCB5KToKICAgICIiIlJldHVybiB0aGUgZGVyaXZhdGl2ZXMgb2YgdGhlIGxvc3MgYWxvbmcgc2xvcGUgYW5kIG9mZnNldC4iIiIKICAgICMgYWJvdXQgMiBsaW5lcwogICAgZXJyb3JzID0gc2xvcGUgKiB4ICsgb2Zmc2V0IC0geQogICAgcmV0dXJuIG5wLm1lYW4oMiAqIGVycm9ycyAqIHgpLCBucC5tZWFuKDIgKiBlcnJvcnMp"
)


# %% role="answer" id="step"
from coursekit.way_out import take

step = take(
    "c3RlcAoKZGVmIHN0ZXAoc2xvcGUsIG9mZnNldCwgeCwgeSwgbGVhcm5pbmdfcmF0ZSk6CiAgICAiIiJSZXR1cm4gc2xvcGUgYW5kIG9mZnNldCBhZnRlciBvbmUgc3RlcCBvZiBncmFkaWVudCBkZXNjZW50IG9uIHRoZSBzYW1wbGVzIHgsIHkuIiIiCiAgICAjIGFib3V0IDIgbGluZXMKICAgIGRfc2xvcGUsIGRfb2Zmc2V0ID0gZ3JhZGllbnQoc2xvcGUsIG9mZnNldCwgeCwgeSkKICAgIHJldHVybiBzbG9wZSAtIGxlYXJuaW5nX3JhdGUgKiBkX3Nsb3BlLCBvZmZzZXQgLSBsZWFybmluZ19yYXRlICogZF9vZmZzZXQ="
)


# %% role="answer" id="batches"
from coursekit.way_out import take

batches = take(
    "YmF0Y2hlcwoKZGVmIGJhdGNoZXMoeCwgeSwgYmF0Y2hfc2l6ZSwgcm5nKToKICAgICIiIllpZWxkIG9uZSBlcG9jaCBvZiAoeCwgeSkgYmF0Y2hlcyBpbiByYW5kb20gb3JkZXIuIiIiCiAgICAjIGFib3V0IDQgbGluZXMKICAgIG9yZGVyID0gcm5nLnBlcm11dGF0aW9uKGxlbih4KSkKICAgIGZvciBmaXJzdCBpbiByYW5nZSgwLCBsZW4oeCksIGJhdGNoX3NpemUpOgogICAgICAgIHBpY2tlZCA9IG9yZGVyW2ZpcnN0IDogZmlyc3QgKyBiYXRjaF9zaXplXQogICAgICAgIHlpZWxkIHhbcGlja2VkXSwgeVtwaWNrZWRd"
)


# %% role="answer" id="is-stable"
from coursekit.way_out import take

is_stable = take(
    "c3RhYmlsaXR5IGJ5IGV4cGVyaW1lbnQKCmRlZiBpc19zdGFibGUobGVhcm5pbmdfcmF0ZSwgeCwgeSk6CiAgICAiIiJSZXR1cm4gd2hldGhlciBncmFkaWVudCBkZXNjZW50IG9uIGFsbCBzYW1wbGVzIHNldHRsZXMgd2l0aCB0aGlzIGxlYXJuaW5nIHJhdGUuIiIiCiAgICAjIGFib3V0IDQgbGluZXMKICAgIHBvaW50ID0gKDAuNSwgMC44KQogICAgZm9yIF8gaW4gcmFuZ2UoMjAwKToKICAgICAgICBwb2ludCA9IHN0ZXAoKnBvaW50LCB4LCB5LCBsZWFybmluZ19yYXRlKQogICAgcmV0dXJuIGJvb2wobG9zcygqcG9pbnQsIHgsIHkpIDw9IGxvc3MoMC41LCAwLjgsIHgsIHkpKQ=="
)


# %% role="answer" id="hessian"
from coursekit.way_out import take

hessian = take(
    "SGVzc2lhbgoKZGVmIGhlc3NpYW4oeCk6CiAgICAiIiJSZXR1cm4gdGhlIG1hdHJpeCBvZiBzZWNvbmQgZGVyaXZhdGl2ZXMgb2YgdGhlIGxvc3MsIHNoYXBlICgyLCAyKSwgaW4gdGhlIG9yZGVyIHNsb3BlLCBvZmZzZXQuIiIiCiAgICAjIGFib3V0IDEgbGluZQogICAgcmV0dXJuIDIgKiBucC5hcnJheShbW25wLm1lYW4oeCAqIHgpLCBucC5tZWFuKHgpXSwgW25wLm1lYW4oeCksIDEuMF1dKQ=="
)
