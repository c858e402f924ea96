"""Where the time of `swvp predict` goes: CPU time by stage, file to file, without start-up and compilation.

    python benchmarks/predict_stages.py MODEL FILE

The stages are those of one block; the sums are over all blocks of the file, which is predicted twice: the first time
loads the kernels. One thread.
"""

import sys
import time
from collections import defaultdict
from pathlib import Path

from swvp.io.blocks import read_blocks
from swvp.io.files import choose_format
from swvp.io.table import shape_of, table_of
from swvp.io.treebank import treebank_of_table, write_trees
from swvp.pipeline import load_models, widths_for
from swvp.tagging.corpus import Labels
from swvp.tagging.files import layout_for_predicting, read_corpus, write_labels
from swvp.tagging.tagger import Tagger

CLOCK = time.process_time


def predict(model, path):
    """Predict a file; return the seconds of each stage and the number of tokens."""
    seconds, tokens, shape = defaultdict(float), 0, None
    is_tagger = isinstance(model, Tagger)
    layout = layout_for_predicting(model) if is_tagger else None
    conllu = not is_tagger or layout.conllu
    options = {"conllu": conllu, "widths": widths_for(model)}
    blocks = read_blocks(path, choose_format(path, conllu=conllu), "utf-8")

    def timed(stage, call, *arguments, **named):
        began = CLOCK()
        result = call(*arguments, **named)
        seconds[stage] += CLOCK() - began
        return result

    while (block := timed("read", next, blocks, None)) is not None:
        shape = shape or shape_of(block.content, choose_format(path, conllu=conllu), options["widths"])
        table = timed("read", table_of, path, block.content, line=block.line, shape=shape, **options)
        tokens += table.tokens
        if not table.tokens:
            continue
        if is_tagger:
            corpus = timed("encode", read_corpus, table, layout, labelled=False)
            chain = timed("encode", model._encode, corpus)
            ids = timed("decode", model._best_ids, chain)
            timed("write", write_labels, table, layout, Labels(model.classes_, ids.astype("int32")))
        else:
            treebank = timed("encode", treebank_of_table, table, heads=False)
            problem = timed("encode", model._encoded, treebank)
            heads = timed("decode", model._predict_heads, problem, model._weights)
            labels = timed("labels", model._labels, treebank, heads)
            timed("write", write_trees, table, heads, labels)
    return seconds, tokens


def main():
    model, path = load_models([Path(sys.argv[1])])[0], sys.argv[2]
    for _ in range(2):
        seconds, tokens = predict(model, path)
    total = sum(seconds.values())
    for stage, part in seconds.items():
        print(f"{stage:7} {part:6.2f} s  {100 * part / total:3.0f} %  {1e6 * part / tokens:6.2f} µs a token")
    print(f"{'all':7} {total:6.2f} s  {tokens / total:,.0f} tokens/s")


if __name__ == "__main__":
    main()
