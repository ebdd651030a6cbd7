# %% join-gloo-always
# title = "Gloo alone, with GPUs or without"
# fails.join-tests = ["join.wrong-backend"]
# -    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
# +    dist.init_process_group("gloo")

# %% join-local-rank-by-modulo
# title = "The rank modulo the ranks of its node, which is right on nodes of equal size"
# fails.join-tests = ["facts.wrong"]
# -    return dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
# +    return dist.get_rank(), dist.get_world_size(), dist.get_rank() % int(os.environ["LOCAL_WORLD_SIZE"])

# %% join-rank-for-local-rank
# title = "The rank for the local rank: right on one node"
# fails.join-tests = ["facts.wrong"]
# -    return dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
# +    return dist.get_rank(), dist.get_world_size(), dist.get_rank()

# %% join-reads-the-environment
# title = "The launcher's variables say it all, so nobody joins"
# fails.join-tests = ["ranks.not-joined"]
def join():
    return tuple(int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))


# %% right-place-by-other-calls
# title = "Right: the place by other calls, numbers as tensors"
def join():
    names = {"cpu": "gloo"} | ({"cuda": "nccl"} if torch.cuda.device_count() else {})
    dist.init_process_group(backend=",".join(map(":".join, names.items())), init_method="env://")
    print("joined")
    return [torch.tensor(dist.get_rank()), np.int64(dist.get_world_size()), dist.get_node_local_rank()]


# %% id="pick-device"
def pick_device():
    if torch.cuda.is_available():
        torch.cuda.set_device(dist.get_node_local_rank())
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


# %% way-out-of-the-pieces
# title = "Some pieces are taken from the solution, the others are one's own"
# fails.join-tests = ["answer.taken"]
# fails.device-tests = ["answer.taken"]
# fails.shards-tests = ["answer.taken"]
# fails.order-tests = ["answer.taken"]
# fails.save-tests = ["answer.taken"]
# fails.once-tests = ["answer.taken"]
# fails.evaluate-tests = ["answer.taken"]
# fails.bytes-tests = ["answer.taken"]
# fails.zero-tests = ["answer.taken"]
from coursekit.solution_snippet import take

join = take(
    "am9pbmVkIHJhbmtzCgpkZWYgam9pbigpOgogICAgIiIiSm9pbiB0aGUgcmFua3M7IHJldHVybiB0aGlzIHByb2Nlc3MncyByYW5rLCB0aGUgd29ybGQgc2l6ZSBhbmQgaXRzIGxvY2FsIHJhbmsuIiIiCiAgICAjIGFib3V0IDIgbGluZXMKICAgIGRpc3QuaW5pdF9wcm9jZXNzX2dyb3VwKCJjcHU6Z2xvbyxjdWRhOm5jY2wiIGlmIHRvcmNoLmN1ZGEuaXNfYXZhaWxhYmxlKCkgZWxzZSAiZ2xvbyIpCiAgICByZXR1cm4gZGlzdC5nZXRfcmFuaygpLCBkaXN0LmdldF93b3JsZF9zaXplKCksIGludChvcy5lbnZpcm9uWyJMT0NBTF9SQU5LIl0p"
)

# %% id="pick-device"
from coursekit.solution_snippet import take

pick_device = take(
    "ZGV2aWNlIG9mIHRoZSBsb2NhbCByYW5rCgpkZWYgcGlja19kZXZpY2UoKToKICAgICIiIlJldHVybiB0aGUgZGV2aWNlIG9mIHRoaXMgcmFuaydzIGxvY2FsIHJhbmssIGFuZCBzZXQgaXQgaWYgaXQgaXMgYSBHUFUuIiIiCiAgICAjIGFib3V0IDUgbGluZXMKICAgIGlmIG5vdCB0b3JjaC5jdWRhLmlzX2F2YWlsYWJsZSgpOgogICAgICAgIHJldHVybiB0b3JjaC5kZXZpY2UoImNwdSIpCiAgICBkZXZpY2UgPSB0b3JjaC5kZXZpY2UoImN1ZGEiLCBpbnQob3MuZW52aXJvblsiTE9DQUxfUkFOSyJdKSkKICAgIHRvcmNoLmN1ZGEuc2V0X2RldmljZShkZXZpY2UpCiAgICByZXR1cm4gZGV2aWNl"
)

# %% id="read-epochs"
from coursekit.solution_snippet import take

read_epochs = take(
    "c2hhcmRzCmEgbmV3IG9yZGVyIGluIGV2ZXJ5IGVwb2NoCgpkZWYgcmVhZF9lcG9jaHMoZGF0YXNldCwgYmF0Y2hfc2l6ZSwgbnVtX2Vwb2Nocywgc2VlZCk6CiAgICAiIiJZaWVsZCBmb3IgZWFjaCBlcG9jaCB0aGUgYmF0Y2hlcyBvZiB0aGlzIHJhbmsuIiIiCiAgICAjIGFib3V0IDUgbGluZXMKICAgIHNhbXBsZXIgPSBEaXN0cmlidXRlZFNhbXBsZXIoZGF0YXNldCwgc2VlZD1zZWVkKQogICAgbG9hZGVyID0gRGF0YUxvYWRlcihkYXRhc2V0LCBiYXRjaF9zaXplLCBzYW1wbGVyPXNhbXBsZXIpCiAgICBmb3IgZXBvY2ggaW4gcmFuZ2UobnVtX2Vwb2Nocyk6CiAgICAgICAgc2FtcGxlci5zZXRfZXBvY2goZXBvY2gpCiAgICAgICAgeWllbGQgbG9hZGVy"
)

# %% id="save"
from coursekit.solution_snippet import take

save = take(
    "Y2hlY2twb2ludAoKZGVmIHNhdmUod3JhcHBlZCwgb3B0aW1pemVyLCBudW1fZXBvY2hzLCBmb2xkZXIpOgogICAgIiIiV3JpdGUgY2hlY2twb2ludC5wdCBpbnRvIHRoZSBmb2xkZXIsIG9uIHJhbmsgMCBhbG9uZS4iIiIKICAgICMgYWJvdXQgMyBsaW5lcwogICAgaWYgZGlzdC5nZXRfcmFuaygpID09IDA6CiAgICAgICAgc3RhdGUgPSB7Im1vZGVsIjogd3JhcHBlZC5tb2R1bGUuc3RhdGVfZGljdCgpLCAib3B0aW1pemVyIjogb3B0aW1pemVyLnN0YXRlX2RpY3QoKSwgIm51bV9lcG9jaHMiOiBudW1fZXBvY2hzfQogICAgICAgIHRvcmNoLnNhdmUoc3RhdGUsIFBhdGgoZm9sZGVyLCAiY2hlY2twb2ludC5wdCIpKQ=="
)

# %% id="evaluate"
from coursekit.solution_snippet import take

evaluate = take(
    "ZWFjaCBzYW1wbGUgb25jZSwgaW4gZXZhbHVhdGlvbiBtb2RlCm1lYW4gb3ZlciBhbGwgc2FtcGxlcwoKZGVmIGV2YWx1YXRlKG1vZGVsLCBkYXRhc2V0LCBiYXRjaF9zaXplKToKICAgICIiIlJldHVybiB0aGUgbWVhbiAibG9zcyIgYW5kIHRoZSAiYWNjdXJhY3kiIG92ZXIgYWxsIHNhbXBsZXM7IHJhbmtzIHNoYXJlIHRoZW0gb3V0LiIiIgogICAgIyBhYm91dCAxMCBsaW5lcwogICAgc2hhcmUgPSBTdWJzZXQoZGF0YXNldCwgcmFuZ2UoZGlzdC5nZXRfcmFuaygpLCBsZW4oZGF0YXNldCksIGRpc3QuZ2V0X3dvcmxkX3NpemUoKSkpCiAgICBzdW1zID0gdG9yY2guemVyb3MoMywgZHR5cGU9dG9yY2guZmxvYXQ2NCkKICAgIG1vZGVsLmV2YWwoKQogICAgd2l0aCB0b3JjaC5ub19ncmFkKCk6CiAgICAgICAgZm9yIHgsIHkgaW4gRGF0YUxvYWRlcihzaGFyZSwgYmF0Y2hfc2l6ZSk6CiAgICAgICAgICAgIGxvZ2l0cyA9IG1vZGVsKHgpCiAgICAgICAgICAgIG51bV9yaWdodCA9IChsb2dpdHMuYXJnbWF4KGRpbT0xKSA9PSB5KS5zdW0oKQogICAgICAgICAgICBzdW1zICs9IHRvcmNoLnRlbnNvcihbRi5jcm9zc19lbnRyb3B5KGxvZ2l0cywgeSwgcmVkdWN0aW9uPSJzdW0iKSwgbnVtX3JpZ2h0LCBsZW4oeSldKQogICAgZGlzdC5hbGxfcmVkdWNlKHN1bXMpCiAgICByZXR1cm4geyJsb3NzIjogZmxvYXQoc3Vtc1swXSAvIHN1bXNbMl0pLCAiYWNjdXJhY3kiOiBmbG9hdChzdW1zWzFdIC8gc3Vtc1syXSl9"
)

# %% id="bytes-held"
from coursekit.solution_snippet import take

bytes_held = take(
    "Ynl0ZXMgb2YgYSByYW5rCgpkZWYgYnl0ZXNfaGVsZChtb2RlbCwgb3B0aW1pemVyKToKICAgICIiIlJldHVybiB0aGUgYnl0ZXMgb2YgcGFyYW1ldGVycywgZ3JhZGllbnRzIGFuZCBvcHRpbWlzZXIgc3RhdGUgdGhhdCB0aGlzIHJhbmsgaG9sZHMuIiIiCiAgICAjIGFib3V0IDcgbGluZXMKICAgIGlubmVyID0gZ2V0YXR0cihvcHRpbWl6ZXIsICJvcHRpbSIsIG9wdGltaXplcikKCiAgICBkZWYgc2l6ZSh0ZW5zb3JzKToKICAgICAgICByZXR1cm4gc3VtKCh4LnRvX2xvY2FsKCkgaWYgaGFzYXR0cih4LCAidG9fbG9jYWwiKSBlbHNlIHgpLm5ieXRlcyBmb3IgeCBpbiB0ZW5zb3JzIGlmIHRvcmNoLmlzX3RlbnNvcih4KSkKCiAgICByZXR1cm4gewogICAgICAgICJwYXJhbWV0ZXJzIjogc2l6ZShtb2RlbC5wYXJhbWV0ZXJzKCkpLAogICAgICAgICJncmFkaWVudHMiOiBzaXplKHBhcmFtZXRlci5ncmFkIGZvciBwYXJhbWV0ZXIgaW4gbW9kZWwucGFyYW1ldGVycygpKSwKICAgICAgICAib3B0aW1pemVyIjogc2l6ZSh4IGZvciBzdGF0ZSBpbiBpbm5lci5zdGF0ZS52YWx1ZXMoKSBmb3IgeCBpbiBzdGF0ZS52YWx1ZXMoKSksCiAgICB9"
)

# %% id="make-zero"
from coursekit.solution_snippet import take

make_zero = take(
    "WmVSTy0xCgpkZWYgbWFrZV96ZXJvKHdyYXBwZWQsIHJhdGUpOgogICAgIiIiUmV0dXJuIEFkYW0gZm9yIGEgd3JhcHBlZCBtb2RlbCwgd2hvc2Ugc3RhdGUgdGhlIHJhbmtzIHNoYXJlIG91dC4iIiIKICAgICMgYWJvdXQgMSBsaW5lCiAgICByZXR1cm4gWmVyb1JlZHVuZGFuY3lPcHRpbWl6ZXIod3JhcHBlZC5wYXJhbWV0ZXJzKCksIHRvcmNoLm9wdGltLkFkYW0sIGxyPXJhdGUp"
)
