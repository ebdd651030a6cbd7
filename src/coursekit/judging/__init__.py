"""From a staged hand-in and a running sandbox to a verdict: which tests passed, and what the instructor should know."""
