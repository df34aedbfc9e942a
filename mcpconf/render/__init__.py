"""Reports for people: every renderer reads a stored report and nothing else."""
