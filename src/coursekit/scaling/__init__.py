"""How training scales: one step of synchronous data parallelism on any number of ranks, predicted; map: `forecast`."""
