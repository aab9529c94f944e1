"""Measures what many viewers cost a host for each packet, and what they get."""
