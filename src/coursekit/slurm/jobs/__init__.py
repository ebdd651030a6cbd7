"""Write job scripts for every site, submit and follow jobs, and explain why they wait or fail."""
