"""Small random treebanks for second-order parsing: the definition and the kernels side by side."""

import itertools

import numpy as np

from helpers.treebanks import columns_of, nodes_of, random_sentence
from swvp.features.parser_templates import parse_part_templates
from swvp.structures import operations
from swvp.structures.generic import PythonModel, PythonProblem
from swvp.structures.tree.encoding import ranks_of
from swvp.structures.tree.reference import PlainParts, trees
from swvp.structures.tree.second_order.features import part_tables
from swvp.structures.tree.second_order.model import SecondOrder, new_part_model, score_all_parts
from swvp.structures.tree.second_order.parts import Candidates

LINES = [
    "h.word & m.word",  # no word comes twice in a sentence, so no two trees have the same φ
    "m.pos & distance",
    "h.feats & m.pos",
    "siblings",
    "h.word & m.word & s.word",
    "h.pos & m.pos & s.pos",
    "m.pos & s.pos & distance",
    "m.feats & s.feats",
    "g.word & h.word & m.word",
    "g.pos & h.pos & m.pos[-1]",
    "g.pos & m.pos & between.pos",
]
KINDS = {
    "any": {"projective": False, "one_root": True},
    "roots": {"projective": False, "one_root": False},
    "projective": {"projective": True, "one_root": True},
    "projective-roots": {"projective": True, "one_root": False},
}
RULES = [
    "csp",
    "a-wm",
    "b-wmr:segments",
    "a-uniform:components:mira",
    "mira",
    "a-worst:subtrees",
    "b-softmin:components:impose",
    "a-wmr:sqrt",
    "b-uniform:pairs",
    "b-optimal:all",
    "a-softmin:prefixes:mira",
    "a-uniform:components:ada",
]


class WithMargin(PythonProblem):
    """The generic problem where each gold head must win by a margin: m^J is a violation if w·Δφ ≤ margin · |J|."""

    def __init__(self, problem, X, Y, margin):
        super().__init__(problem, X, Y)
        self.margin = margin


@operations.margins.register(WithMargin)
def less_the_margin(problem, model, i, starts, positions, count, out):
    operations.margins.dispatch(PythonProblem)(problem, model, i, starts, positions, count, out)
    out[:count] -= problem.margin * np.diff(starts[: count + 1])


class Parser(PlainParts):
    """Of the sentences whose gold trees are known: what is wrong is worth a margin."""

    def __init__(self, lines, X, Y, margin, **kinds):
        super().__init__(lines, X, **kinds)
        self.gold, self.margin = {id(x): y for x, y in zip(X, Y, strict=True)}, margin

    def scores(self, x, w):
        scores = super().scores(x, w)
        for m, h in enumerate(self.gold[id(x)], 1):
            scores["arc", h, m] -= self.margin
        return scores


class Both:
    """A treebank with some candidate heads, the gold ones among them; models of zero weights."""

    def __init__(
        self,
        rng,
        lines,
        *,
        projective=False,
        one_root=True,
        share=1.0,
        margin=0.0,
        lengths=(1, 2, 3, 4, 4),
        exact=True,
        size=2**14,
    ):
        self.rng = rng
        self.X = [random_sentence(rng, n) for n in lengths]
        self.Y = [random_tree(rng, n, projective, one_root) for n in lengths]
        self.heads = [
            [
                [h for h in range(len(y) + 1) if h != m and (h == gold or rng.random() < share)]
                for m, gold in enumerate(y, 1)
            ]
            for y in self.Y
        ]
        number = {id(x): i for i, x in enumerate(self.X)}
        kinds = {"projective": projective, "one_root": one_root}
        self.plain = Parser(
            lines, self.X, self.Y, margin, **kinds, candidates=lambda x, m: self.heads[number[id(x)]][m - 1]
        )
        self.generic = WithMargin(self.plain, self.X, self.Y, margin)
        self.learnt = PythonModel(np.zeros(len(self.plain.numbers)))
        self.ordered, tables = part_tables(parse_part_templates(lines))
        nodes = nodes_of(self.X, self.ordered.all, ranks_of(columns_of(self.X)))
        flat = list(itertools.chain(*self.heads))
        candidates = Candidates(np.cumsum([0, *map(len, flat)]), np.array(list(itertools.chain(*flat)), np.int32))
        gold = np.array(list(itertools.chain(*self.Y)), np.int32)
        self.problem = SecondOrder(nodes, tables, candidates, gold, projective, one_root, margin)
        self.model = new_part_model(self.problem, size, exact=exact)

    def random_heads(self, i):
        """Candidates, seldom a tree."""
        return tuple(int(self.rng.choice(heads)) for heads in self.heads[i])

    def keep(self, i, heads):
        """Make heads the prediction of sentence i for both; return where they are wrong."""
        model = self.model._replace(word_parts=None)  # scores do not need them, and the kernel is compiled once
        score_all_parts(self.problem, model, i, i + 1)  # as prediction does, but there is nothing to decode
        parts = model.buffers.parts
        for m, gold in enumerate(self.Y[i], 1):
            parts.arc_scores[parts.arc[gold, m]] -= self.problem.margin
        self.model.predicted[: len(heads)] = heads
        self.learnt.predicted, self.learnt.deltas = heads, {}
        return [k for k, (gold, h) in enumerate(zip(self.Y[i], heads, strict=True)) if gold != h]

    def shake(self, times=12):
        """Give both the same random weights, by updates for random heads."""
        for i in range(len(self.X)):
            for clock in range(times):
                if wrong := self.keep(i, self.random_heads(i)):
                    given = random_sets(self.rng, wrong)
                    operations.add(self.problem, self.model, i, *given, clock)
                    operations.add(self.generic, self.learnt, i, *given, clock)

    def check(self, w, expected, atol=1e-9):
        """The weights are the same up to their numbering: as a set, and as sums for each part."""
        size = max(np.count_nonzero(w), np.count_nonzero(expected))
        np.testing.assert_allclose(*(sorted_nonzero(v, size) for v in (w, expected)), atol=atol)
        present = self.model.w.copy()
        self.model.w[:] = w
        for i, x in enumerate(self.X):
            self.keep(i, self.Y[i])
            found, scores = scores_of(self.model.buffers.parts, len(x)), self.plain.scores(x, expected)
            np.testing.assert_allclose([found[part] for part in found], [scores[part] for part in found], atol=atol)
            assert len(found) == len(scores) or any(len(heads) < len(x) for heads in self.heads[i])
        self.model.w[:] = present


def sorted_nonzero(values, size):
    """The values that are not 0, and zeros up to the given size, in order."""
    values = values[values != 0]
    return np.sort(np.pad(values, (0, size - len(values))))


def random_tree(rng, n, projective, one_root):
    every = list(trees(n, projective, one_root))
    return every[rng.integers(len(every))]


def random_sets(rng, wrong):
    """Three random sets of wrong positions in an order of their own, with amounts, mostly against the gold heads."""
    sets = [sorted(rng.permutation(wrong)[: rng.integers(1, len(wrong) + 1)].tolist()) for _ in range(3)]
    starts = np.cumsum([0, *map(len, sets)])
    return starts, np.concatenate(sets).astype(np.int64), rng.permutation(3), 3, rng.normal(-0.7, 1.0, size=3)


def scores_of(parts, n):
    """The scores of all parts of a sentence in the kernels, by what they are in the definition."""
    found = {}
    for a in range(parts.arcs[n + 1]):
        h, m = int(parts.heads[a]), int(parts.modifiers[a])
        found["arc", h, m] = parts.arc_scores[a]
        for b in range(parts.arcs[h], parts.arcs[h + 1]):
            if parts.heads[b] != m:
                part = parts.grandparents[a] + b - parts.arcs[h]
                found["grandparent", int(parts.heads[b]), h, m] = parts.grandparent_scores[part]
    for c in range(2 * n + 2):
        h, right = c // 2, c % 2 == 1
        children = [None, *parts.modifiers[parts.chain[parts.chains[c] : parts.chains[c + 1]]].tolist(), None]
        k = len(children) - 2
        for i, j in itertools.combinations(range(k + 2), 2):
            score = parts.sibling_scores[parts.siblings[c] + i * (k + 1) + j - 1]
            found["siblings", h, right, children[i], children[j]] = score
    return found
