"""What the labs run on: the environment's own check and the doctor."""
