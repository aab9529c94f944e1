"""A share that is pushed to a tree of servers."""
