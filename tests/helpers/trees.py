"""Small treebanks to learn from."""

import numpy as np

NOUNS, VERBS, ADJECTIVES = ("dog", "cat", "bird", "man"), ("sees", "likes", "hears"), ("big", "old", "red")


def toy(seed=0, count=30, wrong=0.0):
    """Sentences as [(word, tag)] and their trees as [(head, label)]; a share of the heads is wrong, but a tree."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        words, tree = [], []
        subject = add_phrase(rng, words, tree, "nsubj")
        words.append((str(rng.choice(VERBS)), "VERB"))
        tree.append([0, "root"])
        verb = len(words)
        tree[subject - 1][0] = verb
        if rng.random() < 0.7:
            tree[add_phrase(rng, words, tree, "obj") - 1][0] = verb
        if rng.random() < 0.5:
            words.append((".", "PUNCT"))
            tree.append([verb, "punct"])
        for arc in tree:
            if arc[0] and rng.random() < wrong:
                arc[0] = verb
        X.append(words)
        y.append([tuple(arc) for arc in tree])
    return X, y


def add_phrase(rng, words, tree, label):
    """Add the words of a phrase and their arcs; return the number of its noun, whose head is not known yet."""
    adjectives = int(rng.integers(0, 3))
    head = len(words) + adjectives + 2
    words += [("the", "DET"), *((str(rng.choice(ADJECTIVES)), "ADJ") for _ in range(adjectives))]
    words.append((str(rng.choice(NOUNS)), "NOUN"))
    tree += [[head, "det"], *([head, "amod"] for _ in range(adjectives)), [0, label]]
    return head


def conllu(X, y=None, end="\n"):
    """The same as CoNLL-U; without y there are no heads."""
    lines = []
    for i, sentence in enumerate(X):
        for k, (word, tag) in enumerate(sentence):
            head, label = ("_", "_") if y is None else y[i][k]
            lines.append(f"{k + 1}\t{word}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_{end}")
        lines.append(end)
    return "".join(lines)


def heads_only(y):
    return [[head for head, _ in tree] for tree in y]
