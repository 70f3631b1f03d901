"""How to test it: cases, paths, observations, checks, verdicts, campaigns and the command line."""
