"""The speed of dependency parsers, from file to model and from file to file, against UDPipe 1 in the same run.

TRAIN, DEV and TEST are CoNLL-U files with gold tags, which all programs use. Each training runs in its own process, so
that its memory can be measured. Times are CPU times on one thread, the best of several runs, without the start of
Python and, for swvp, without compiling (machine code is cached after the first run) and without loading machine code (a
short training on DEV comes before the clock starts). No program chooses an epoch on DEV; scores are those of the last
one.

    read+train  from the file to a trained model, all epochs
    train       the epochs alone, those of labels too
    per epoch   train, divided by the number of epochs
    to heads    words per second, from what is encoded in memory to heads (UDPipe: its sentences to trees, with labels)
    file        words per second from file to file, as `swvp predict` does it, with the model loaded
    load        seconds to load the model
    memory      at most, up to the end of the training, Python itself included
    UAS, LAS    on TEST, punctuation included, labels whole

UDPipe (through ufal.udpipe, C++) is a transition-based parser with a neural network; its options are its own, but it
trains for one iteration only, because ten take a quarter of an hour on a small treebank. This gives its seconds per
iteration and its parsing speed, which does not depend on the number of iterations. Its scores would be better after
more of them. It always learns labels, so compare it with our rows with labels.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLOCK = time.process_time
PARSES = 5

COLUMNS = {  # title: key, format
    "read+train": ("whole", "10.2f"),
    "train": ("train", "9.2f"),
    "per epoch": ("pass", "10.2f"),
    "to heads": ("heads", "11,.0f"),
    "file": ("file", "10,.0f"),
    "load": ("load", "7.2f"),
    "memory": ("memory", "8.0f"),
    "model": ("size", "8.1f"),
    "UAS": ("UAS", "7.2f"),
    "LAS": ("LAS", "7.2f"),
}
UNITS = {"to heads": "words/s", "file": "words/s", "memory": "MB", "model": "MB", "UAS": "%", "LAS": "%"}
LESS = ("whole", "train", "pass", "load", "memory", "size")
RATIOS = ("pass", "heads", "file")

REFERENCE = "TurboParser 2.3 (measured elsewhere)"
TURBO = {  # by a part of the name of TEST
    "el_gdt": {
        "basic, perceptron": {"whole": 36, "file": 13_000, "memory": 66, "size": 10, "UAS": 86.37},
        "basic, svm_mira": {"whole": 38, "file": 15_000, "memory": 87, "size": 13, "UAS": 86.55},
        "basic, svm_mira, labels": {"whole": 201, "file": 3_400, "memory": 288, "size": 43, "UAS": 87.51, "LAS": 84.95},
        "standard, svm_mira": {"whole": 677, "file": 1_230, "memory": 660, "size": 111, "UAS": 89.93},
        "standard, perceptron": {"whole": 864, "UAS": 89.20},
    },
    "esp.": {
        "basic, perceptron": {"whole": 72, "file": 11_000, "memory": 103, "size": 15, "UAS": 80.08},
        "basic, svm_mira": {"whole": 93, "file": 10_000, "memory": 114, "size": 19, "UAS": 80.60},
    },
}
TURBO_PASSES = 10


def swvp(options):
    """One training and its parses; what it took."""
    from swvp.io.files import write_bytes
    from swvp.io.table import read_table
    from swvp.io.treebank import WITHOUT_HEADS, read_treebank
    from swvp.parsing.parser import Parser
    from swvp.pipeline import parse

    def learn(path, passes):
        began = CLOCK()
        treebank = read_treebank(path, heads=True)
        parser = Parser(rule=options.rule, order=options.order, epochs=passes, labels=options.labels, random_state=0)
        training = parser.start(treebank)
        seconds = timed(lambda: training.run(passes))
        parser.finish(training)
        if options.labels and treebank.labels is not None:
            naming = parser.start_labels(treebank)
            seconds += timed(lambda: naming.run(passes))
            parser.finish_labels(naming)
        times = {"whole": CLOCK() - began, "train": seconds, "pass": seconds / len(training.history)}
        return parser, times | {"words": treebank.tokens}

    def from_file_to_file(parser):
        table = read_table(options.test, conllu=True, widths=WITHOUT_HEADS)
        write_bytes(options.output, parse(parser, table))

    warm, _ = learn(options.dev, 2)
    from_file_to_file(warm)
    del warm
    parser, times = learn(options.train, options.epochs)
    times["memory"] = peak()
    path = f"{options.output}.swvp"
    parser.save(path)
    Parser.load(path)
    load = min(timed(lambda: Parser.load(path)) for _ in range(2))
    test = read_treebank(options.test, heads=False)
    problem = parser._encoded(test)
    speeds = words_per_second(
        test.tokens,
        heads=lambda: parser._predict_heads(problem, parser._weights),
        file=lambda: from_file_to_file(parser),
    )
    return times | speeds | {"load": load, "size": Path(path).stat().st_size / 1e6}


def udpipe(options):
    """The same of UDPipe 1."""
    from ufal.udpipe import InputFormat, Model, Pipeline, ProcessingError, Sentence, Sentences, Trainer

    error = ProcessingError()

    def check():
        if error.occurred():
            sys.exit(f"UDPipe: {error.message}")

    def read(path):
        reader = InputFormat.newConlluInputFormat()
        reader.setText(Path(path).read_text())
        sentences = []
        while reader.nextSentence(sentence := Sentence(), error):
            sentences.append(sentence)
        check()
        return sentences

    def read_for_training(path):
        """Its vector of sentences, and its options. CoNLL 2007 has labels _, which are none to it, and many roots."""
        settings, sentences = f"iterations={options.peer_iterations}", Sentences()
        for sentence in read(path):
            for number in range(1, len(sentence.words)):  # a loop over words would have copies of them
                word = sentence.words[number]
                word.deprel = word.deprel or "_"
                if word.head == 0 and word.deprel != "root" and "single" not in settings:
                    settings += ";single_root=0"
            sentences.append(sentence)
        return sentences, settings

    def from_file_to_file(pipeline):
        Path(options.output).write_text(pipeline.process(Path(options.test).read_text(), error))
        check()

    began = CLOCK()
    sentences, settings = read_for_training(options.train)
    start = CLOCK()
    given = ("morphodita_parsito", sentences, Sentences(), Trainer.NONE, Trainer.NONE, settings, error)
    content = Trainer.train(*given)
    check()
    done = CLOCK()
    memory = peak()
    path = f"{options.output}.udpipe"
    Path(path).write_bytes(content)
    model = Model.load(path)
    load = min(timed(lambda: Model.load(path)) for _ in range(2))
    test = read(options.test)
    tokens = sum(len(sentence.words) - 1 for sentence in test)  # without the root
    pipeline = Pipeline(model, "conllu", Pipeline.NONE, Pipeline.DEFAULT, "conllu")
    speeds = words_per_second(
        tokens,
        heads=lambda: [model.parse(sentence, Model.DEFAULT) for sentence in test],
        file=lambda: from_file_to_file(pipeline),
    )
    times = {"whole": done - began, "train": done - start, "pass": (done - start) / options.peer_iterations}
    return times | speeds | {"load": load, "memory": memory, "size": len(content) / 1e6}


PROGRAMS = {"swvp": swvp, "udpipe": udpipe}


def timed(function):
    """CPU seconds."""
    began = CLOCK()
    function()
    return CLOCK() - began


def words_per_second(words, **functions):
    """The best of several runs of each, in turn."""
    seconds = [{name: timed(function) for name, function in functions.items()} for _ in range(PARSES)]
    return {name: words / min(found[name] for found in seconds) for name in functions}


def peak():
    """The most memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def run_apart(script, program, options, rule="csp", labels=False, dry=False):
    """One training and its parses in a process of its own, scored. With `dry` it is only to compile: on DEV."""
    from swvp.errors import InputError
    from swvp.evaluation.trees import evaluate_trees
    from swvp.io.treebank import read_treebank

    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "parsed.conllu")
        command = [sys.executable, str(script), "speed", options.dev if dry else options.train, options.dev]
        command += [options.dev if dry else options.test, "--run", program, "--rule", rule, "--output", output]
        command += ["--epochs", "1" if dry else str(options.epochs), "--peer-iterations", str(options.peer_iterations)]
        command += ["--order", str(options.order)] + (["--labels"] if labels else [])
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise InputError(
                f"{program} failed: {done.stderr.strip() if dry else done.stderr.strip().splitlines()[-1]}"
            )
        found = json.loads(done.stdout)
        if not dry:
            scores = evaluate_trees(read_treebank(options.test, heads=True), read_treebank(output, heads=True))
            found["UAS"] = 100 * scores.uas
            if (labels or program == "udpipe") and scores.las is not None:
                found["LAS"] = 100 * scores.las
    return found


def best_of(runs):
    """The best of each figure."""
    return {key: (min if key in LESS else max)(run[key] for run in runs) for key in runs[0]}


def row(name, found):
    cells = []
    for title, (key, form) in COLUMNS.items():
        width = max(int(form.split(".")[0].rstrip(",")), len(title) + 1)
        cells.append(f"{found[key]:{form}}".rjust(width) if key in found else "–".rjust(width))
    return f"{name:34}" + "".join(cells)


def heading(names):
    widths = [max(int(form.split(".")[0].rstrip(",")), len(title) + 1) for title, (_, form) in COLUMNS.items()]
    return "".join(name.rjust(width) for name, width in zip(names, widths, strict=True))


def compare_speed(options, script):
    from swvp.errors import InputError
    from swvp.parsing.parser import Parser

    ours = [
        ("swvp", rule, labels)
        for labels in (False, True)
        for rule in ("csp", Parser(order=options.order).model_class.default_rule)
    ]
    peers = [("udpipe", "", True)] if options.peer_iterations > 0 else []
    for program, rule, labels in ours:
        tell(f"compiling: {rule}")
        run_apart(script, program, options, rule, labels, dry=True)
    runs = {key: [] for key in ours + peers}
    for repeat in range(options.repeats):  # in turn, so that all meet the same noise
        for program, rule, labels in list(runs):
            tell(f"run {repeat + 1} of {options.repeats}: {program}{' ' * bool(rule)}{rule}{' with labels' * labels}")
            try:
                runs[program, rule, labels].append(run_apart(script, program, options, rule, labels))
            except InputError as error:
                if program == "swvp":
                    raise
                print(f"{error}; left out")
                del runs[program, rule, labels]
    best = {key: best_of(found) for key, found in runs.items()}
    words = best[ours[0]].pop("words")
    order = "first" if options.order == 1 else "second"
    print(
        f"{Path(options.train).name}: {words:,} words; {order} order, {options.epochs} epochs; CPU time, "
        f"best of {options.repeats}"
    )
    print(f"{'':34}" + heading(COLUMNS))
    print(f"{'':34}" + heading([UNITS.get(title, "s") for title in COLUMNS]))
    base = best.get(("udpipe", "", True))
    passes = options.peer_iterations
    if base:
        print(row(f"UDPipe 1, {passes} iteration{'s' * (passes > 1)}, labels", base))
    for program, rule, labels in ours:
        found = best[program, rule, labels]
        print(row(f"swvp {rule}{', labels' * labels}", found))
        if base:
            ratios = {key: base[key] / found[key] if key in LESS else found[key] / base[key] for key in RATIOS}
            print("  times as fast as UDPipe: " + ", ".join(f"{ratios[key]:.1f} ({title})" for title, key in titled()))
    tell_reference(options)
    if base:
        print(
            f"UDPipe was trained for {passes} of its 10 iterations: its scores are not its best, and only its seconds "
            "per epoch can\nbe compared; about one of these seconds is spent only once per training. An epoch of a "
            "neural network and one of a\nperceptron do not learn the same; both read all training sentences once."
        )


def titled():
    return [(title, key) for title, (key, _) in COLUMNS.items() if key in RATIOS]


def tell_reference(options):
    """What is known of TurboParser on this treebank."""
    for part, table in TURBO.items():
        if part in Path(options.test).name:
            print(f"{REFERENCE}: only for reference, on another machine at another time; {TURBO_PASSES} epochs")
            for name, found in table.items():
                print(row(f"  {name}", found | {"pass": found["whole"] / TURBO_PASSES}))


def tell(text):
    print(text, file=sys.stderr, flush=True)
