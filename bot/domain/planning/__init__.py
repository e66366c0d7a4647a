"""The step of the plan: what its roles ask, the verdicts that people give, and the files that follow."""
