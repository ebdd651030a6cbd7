"""Predict a step of synchronous data-parallel training on any number of ranks; `forecast` gives an overview."""
