"""Dependency trees: best trees, k best trees and probabilities, from the scores of arcs or of second-order parts."""
