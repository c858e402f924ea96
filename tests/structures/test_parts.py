"""The parts of second-order trees against their definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from swvp.structures.tree.second_order.parts import Candidates, lay_out, new_parts, score_heads


def random_candidates(rng: np.random.Generator, lengths: list[int]) -> Candidates:
    """Some heads of each word, at least one."""
    first, heads = [0], []
    for n in lengths:
        for m in range(1, n + 1):
            others = [h for h in range(n + 1) if h != m]
            chosen = rng.choice(others, rng.integers(1, len(others) + 1), replace=False)
            heads += sorted(chosen.tolist())
            first.append(len(heads))
    return Candidates(np.array(first), np.array(heads, np.int32))


def parts_of(heads: list[int]) -> tuple[set[tuple[int, ...]], set[tuple[int, ...]], set[tuple[int, ...]]]:
    """The arcs, grandparents and siblings of an assignment by their definition; 0 is START or STOP."""
    n = len(heads)
    arcs = {(h, m) for m, h in enumerate(heads, 1)}
    grand = {(heads[h - 1], h, m) for h, m in arcs if h and heads[h - 1] != m}
    chains = set()
    for h in range(n + 1):
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1)):
            children = [0, *(m for m in side if heads[m - 1] == h), 0]
            chains |= {(h, side.step, m, s) for m, s in itertools.pairwise(children)}
    return arcs, grand, chains


@pytest.mark.parametrize("seed", range(5))
def test_the_score_of_an_assignment_is_the_sum_of_its_parts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = [1, 4, 2, 6]
    candidates = random_candidates(rng, lengths)
    starts = np.concatenate([[0], np.cumsum(np.array(lengths) + 1)])
    parts = new_parts(candidates, starts)
    word = 0
    for n in lengths:
        lay_out(candidates, word, n, parts)
        values: dict[tuple[int, ...], float] = {}
        for a in range(parts.arcs[n + 1]):
            h, m = int(parts.heads[a]), int(parts.modifiers[a])
            values[h, m] = parts.arc_scores[a] = rng.normal()
            for b in range(parts.arcs[h], parts.arcs[h + 1]):
                g = int(parts.heads[b])
                values[g, h, m] = parts.grandparent_scores[parts.grandparents[a] + b - parts.arcs[h]] = rng.normal()
        for c in range(2 * n + 2):
            children = [0, *parts.modifiers[parts.chain[parts.chains[c] : parts.chains[c + 1]]].tolist(), 0]
            k = len(children) - 2
            for i in range(k + 1):
                for j in range(i + 1, k + 2):
                    part = parts.siblings[c] + i * (k + 1) + j - 1
                    key = (c // 2, 1 if c % 2 else -1, children[i], children[j])
                    values[key] = parts.sibling_scores[part] = rng.normal()
        for _ in range(20):
            heads = np.array(
                [
                    rng.choice(candidates.heads[candidates.first[word + k] : candidates.first[word + k + 1]])
                    for k in range(n)
                ]
            )
            arcs, grand, chains = parts_of(heads.tolist())
            expected = sum(values[part] for part in arcs | grand | chains)
            assert score_heads(parts, n, heads) == pytest.approx(expected)
        word += n
