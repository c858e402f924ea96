"""From raw text to trees: tokens, morphology, lemmas, and the pipeline of all of them."""
