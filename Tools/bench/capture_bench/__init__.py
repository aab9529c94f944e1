"""Measures the capture process against other programs that record an X screen."""
