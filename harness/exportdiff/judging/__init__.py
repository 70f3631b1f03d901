"""One case over all paths and checks: the verdict, and what torch documents."""
