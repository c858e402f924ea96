"""Dependency parsing: treebanks, tree models of first and second order, labels, and drawings of trees."""
