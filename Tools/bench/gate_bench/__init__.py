"""Compares five key figures of this tree with those of an earlier commit."""
