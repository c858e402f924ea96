"""Small random treebanks for first-order parsing: the definition and the kernels side by side."""

import numpy as np
import pytest

from helpers.treebanks import as_arcs, columns_of, key_of_feature, random_sentence
from swvp.features.parser_templates import parse_arc_templates
from swvp.structures import operations
from swvp.structures.tree.encoding import ranks_of
from swvp.structures.tree.first_order.features import place
from swvp.structures.tree.first_order.model import decode, new_model
from swvp.structures.tree.reference import PlainArcs, is_projective, is_tree, trees

LINES = [
    "bias",
    "h.word & m.word",  # no word comes twice in a sentence, so no two trees have the same φ
    "h.pos & m.pos",
    "m.pos & m.pos[-1]",
    "h.feats",
    "h.feats & h.pos & m.feats & m.pos",
    "distance & m.pos",
    "verbs & length",
    "h.pos & m.pos & between.pos",
]
KINDS = [(False, True), (False, False), (True, True), (True, False)]
every_kind = pytest.mark.parametrize(
    ("projective", "one_root"), KINDS, ids=["any", "roots", "projective", "projective-roots"]
)
every_pruning = pytest.mark.parametrize("prune", [False, True], ids=["all-arcs", "pruned"])


def random_tree(rng, n, projective, one_root):
    every = list(trees(n, projective, one_root))
    return every[rng.integers(len(every))]


class Parser(PlainArcs):
    """The score of a pruned arc does not count, so trees that must have one tie: then the tree of the decoder."""

    def argmax(self, x, w):
        best, scores = super().argmax(x, w), self.allowed_scores(x, w)
        if not any(self.pruned(x, h, m) for m, h in enumerate(best, 1)):
            return best
        heads = np.empty(len(x), np.int64)
        decode(scores, len(x), self.projective, self.one_root, heads)
        found = tuple(heads.tolist())
        assert is_tree(found, self.one_root)
        assert is_projective(found) or not self.projective
        rows = [[scores[h, m] for m, h in enumerate(y, 1)] for y in (found, best)]
        assert np.isinf(rows[0]).sum() == np.isinf(rows[1]).sum()
        np.testing.assert_allclose(*(sum(s for s in row if s > -np.inf) for row in rows))
        return found


class Both:
    """The same random treebank, the definition and the kernels, with the same random weights.

    Weights are hashed, as those of parsers are by default, in a table so large that no two features share one. With
    `exact`, each weight has an owner. Tests use these types so that their kernels are those that parsers compile.
    """

    def __init__(self, rng, *, projective, one_root, prune, lengths=(1, 2, 3, 4, 4, 4), exact=False):
        self.X = [random_sentence(rng, n) for n in lengths]
        self.Y = [random_tree(rng, n, projective, one_root) for n in lengths]
        templates = parse_arc_templates(LINES)
        # pruning by the trees of half of the sentences: gold arcs of the others may be pruned, and no tree be left;
        # Eisner's sums with a penalty break ties by their rounding, so there by all, and by some more
        kinds = {"projective": projective, "one_root": one_root}
        known = self.X[::2], self.Y[::2]
        if projective:
            known = self.X * 2, self.Y + [random_tree(rng, n, projective, one_root) for n in lengths]
        ranks = ranks_of(columns_of(self.X))
        half = as_arcs(*known, templates, prune=prune, ranks=ranks)
        self.problem = as_arcs(self.X, self.Y, templates, **kinds)
        self.problem = self.problem._replace(tables=self.problem.tables._replace(longest=half.tables.longest))
        seen = self.seen(*known)
        self.plain = Parser(
            LINES, self.X, **kinds, pruned=lambda x, h, m: prune and abs(h - m) > seen.get(self.kind(x, h, m), 0)
        )
        keys = key_of_feature(self.X, templates)
        assert keys.keys() == self.plain.numbers.keys()
        self.keys = [np.uint64(keys[feature]) for feature in self.plain.numbers]  # in the order of their numbers
        self.start = rng.normal(size=len(keys))
        size = 2 ** (2 * len(keys)).bit_length()
        while not exact and len({int(key) % size for key in self.keys}) < len(self.keys):
            size *= 2
        self.model = new_model(self.problem, size, exact=exact)
        for key, weight in zip(self.keys, self.start, strict=True):
            at = self.place(key)
            self.model.w[at] = weight
            if exact:
                self.model.owners[at] = key
        operations.refresh(self.model)

    def kind(self, x, h, m):
        return x[h - 1]["pos"] if h else None, x[m - 1]["pos"], m > h

    def seen(self, sentences, trees):
        """The longest arcs by definition."""
        found = {}
        for x, y in zip(sentences, trees, strict=True):
            for m, h in enumerate(y, 1):
                kind = self.kind(x, h, m)
                found[kind] = max(found.get(kind, 0), abs(h - m) if h else 1000)
        return found

    def place(self, key):
        return int(place(key, self.model.owners, np.uint64(len(self.model.w) - 1)))

    def weights(self, w):
        """Weights of the kernels as those of the definition."""
        return np.array([w[self.place(key)] for key in self.keys])


RULES = [
    "csp",
    "a-wm",
    "b-wm",
    "a-wmr:sqrt",
    "b-uniform:pairs",
    "a-uniform:components:count",
    "b-wm:subtrees",
    "a-wm:components:sqrt",
    "b-softmin:subtrees:impose",
    "a-softmin:prefixes",
    "b-worst:all",
    "a-worst:triples",
    "b-optimal:single+full",
    "b-wmr:impose",
    "a-uniform:segments",
    "mira",
    "a-wm:mira",
    "b-softmin:components:mira",
    "mira:3",
    "csp:ada",
    "a-wm:components:ada",
]
