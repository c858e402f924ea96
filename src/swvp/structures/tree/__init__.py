"""Owns dependency trees: their best, their k best and their probabilities, each from scores of single arcs."""
