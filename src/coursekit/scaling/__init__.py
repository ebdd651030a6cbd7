"""Predict one step of synchronous data-parallel training on any number of ranks; `forecast` has the overview."""
