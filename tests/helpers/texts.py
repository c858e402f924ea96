"""Small texts to learn from."""

import numpy as np

COLUMNS = "the DT B-NP\ndog NN I-NP\nbarks VB B-VP\n\nBo NNP B-NP\nsaw VB B-VP\na DT B-NP\ncat NN I-NP\n\n"
CONLLU = (
    "# text = Vámonos al mar\n"
    "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t_\t_\n"
    "2\tnos\tnosotros\tPRON\tP\tCase=Acc\t1\tobj\t_\t_\n"
    "2.1\tx\tx\tX\tX\t_\t_\t_\t_\t_\n"
    "3\tal mar\tal\tADP\tS\t_\t1\tobl\t_\tSpaceAfter=No\n"
    "\n"
    "# only a comment\n"
    "\n\n"
    "1\tmar\tmar\tNOUN\tN\tGender=Fem\t0\troot\t_\t_"
)


def noisy(seed, sentences=12):
    """A column file whose labels are partly random: no pass is without a mistake, the best is not always the last."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(sentences):
        for word in rng.integers(0, 9, rng.integers(2, 7)):
            label = "ABC"[word % 3] if rng.random() < 0.6 else rng.choice(list("ABC"))
            lines.append(f"w{word} {label}\n")
        lines.append("\n")
    return "".join(lines)
