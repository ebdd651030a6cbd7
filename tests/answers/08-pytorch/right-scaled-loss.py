# /// answer
# title = "Right: the loss is scaled and not the rate, and the last gradients are cleared"
# ///

# %% role="changes" id="train"
# -    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
# +    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate, momentum=0.9)

# -            F.cross_entropy(wrapped(x), y).backward()
# -            optimizer.step()
# +            loss = dist.get_world_size() * F.cross_entropy(wrapped(x), y)
# +            loss.backward()
# +            optimizer.step()
# +            optimizer.zero_grad(set_to_none=False)
