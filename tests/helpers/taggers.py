"""Small sentences to tag, and taggers that learn them quickly."""

from swvp import SequenceTagger

WORDS = {"the": "D", "a": "D", "dog": "N", "cat": "N", "barks": "V", "sleeps": "V", "quietly": "R"}


def sentences(rng, *, ragged=True, count=40):
    patterns = [["D", "N", "V"], ["D", "N", "V", "R"], ["N", "V"], ["R"]] if ragged else [["D", "N", "V"]]
    by_tag = {tag: [word for word in WORDS if WORDS[word] == tag] for tag in "DNVR"}
    y = [list(patterns[rng.integers(len(patterns))]) for _ in range(count)]
    return [[str(rng.choice(by_tag[tag])) for tag in tags] for tags in y], y


def tagger(**options):
    return SequenceTagger(**{"epochs": 5, "random_state": 0} | options)


def entities(rng, count=60):
    """Names of one to three capitalised words among others, in the scheme IOB2."""
    X, y = [], []
    for _ in range(count):
        words, tags = [], []
        for _ in range(rng.integers(1, 5)):
            if rng.random() < 0.5:
                words.append(str(rng.choice(["went", "to", "and", "saw"])))
                tags.append("O")
            else:
                size, kind = int(rng.integers(1, 4)), str(rng.choice(["PER", "LOC"]))
                words += [str(rng.choice(["Ann", "Paris", "Lee", "Bonn"])) for _ in range(size)]
                tags += [f"B-{kind}"] + [f"I-{kind}"] * (size - 1)
        X.append(words)
        y.append(tags)
    return X, y


def broken_iob2(labels):
    pairs = zip(["O", *labels], labels, strict=False)
    return sum(label[0] == "I" and (previous[0] == "O" or previous[2:] != label[2:]) for previous, label in pairs)
