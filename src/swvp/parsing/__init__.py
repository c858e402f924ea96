"""Dependency parsing: treebanks, parsers of first and second order, and trees.

Where trees come from
    `treebank` reads files and Python lists, `tokens` turns Python tokens into columns, `checks` finds what is wrong
    with them, `input` makes a treebank of the X and y of an estimator.
What a parser is made of
    `parser` trains and predicts; its options are in `options`. A `tree_model`, either `first_order` or `second_order`,
    scores trees and searches for the best one. `pruner` limits the heads that a second-order model considers, and
    `solver` searches one sentence of it again and again. `labeller` labels the arcs of predicted trees. `analysis` has
    explanations and k-best trees, `probabilities` the probabilities of arcs.
Where trees go
    `tree` is the tree of a sentence, drawn by `drawing`; `treebank` writes trees into files; `persistence` reads and
    writes model files.
"""
