"""Dependency parsing: parsers of first and second order, and trees. `swvp.io.treebank` reads and writes treebanks.

What a parser is made of
    `parser` trains and predicts; its options are in `options`. A `tree_model`, either `first_order` or `second_order`,
    scores trees and searches for the best one; the pruner limits the heads that a second-order model considers.
    `labeller` labels the arcs of predicted trees. `analysis` has explanations, k-best trees and probabilities.
What goes in and comes out
    `tree` is the tree of a sentence, drawn by `svg` and `text_tree`; it also makes a treebank of the X and y of an
    estimator. `train` trains on files, `persistence` reads and writes model files.
"""
