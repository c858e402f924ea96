"""The probabilities of the arcs of a sentence, P(h → m | x), if P(y | x) = exp(score(y)) / Z for each tree y.

`matrix_tree` computes them for all trees, `inside_outside` for the projective ones.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel
from swvp.structures.tree.sums.inside_outside import projective_marginals
from swvp.structures.tree.sums.matrix_tree import tree_marginals

__all__ = ["arc_marginals"]


@kernel
def arc_marginals(scores, n, projective, one_root):
    """log Z and P(h → m | x), [h, m], of the trees of n words; with exactly one child of the root if `one_root`.

    If `projective` is None instead of False, the sums over projective trees are not compiled. Arcs of -inf have
    probability 0. If every tree has one, log Z is -inf and all probabilities are 0.
    """
    marginals = np.zeros((n + 1, n + 1))
    if projective is not None:  # noqa: SIM102, for the compiler
        if projective:
            return projective_marginals(scores, n, one_root, marginals), marginals
    return tree_marginals(scores, n, one_root, marginals), marginals
