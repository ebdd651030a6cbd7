"""How training scales: one step of synchronous data parallelism on any number of ranks, predicted and held to figures.

`networks` knows what is sent and computed, `machine` what an allreduce costs, `step` puts both on a clock,
`belief` says how far to trust it, and `published` holds it against tables that others measured.
"""
