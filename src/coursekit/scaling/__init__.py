"""How training scales: one step of synchronous data parallelism on any number of ranks, predicted and held to figures.

`networks` knows what is sent and computed, `machine` what GPUs and links there are and what an allreduce costs, `step`
puts both on a clock, and `belief` says how far to trust it. `workshop published` holds it against published tables.
"""
