"""Training a pipeline: stages with their options, interrupted and resumed, on any number of threads."""

import signal
import subprocess
import sys

import pytest

from helpers.garden import DEV, TRAIN, without_columns
from helpers.text_stages import FAKES, treebank_text
from swvp import InputError, Pipeline
from swvp.io.container import read_container, write_container
from swvp.text import jackknife, train
from swvp.text.stages import PARTS

SMALL = {"epochs": 3, "hashed": 2**16}


@pytest.fixture
def fakes(monkeypatch):
    for part, place in FAKES.items():
        monkeypatch.setitem(PARTS, part, place)


@pytest.fixture
def treebank(fakes, tmp_path):
    path = tmp_path / "x-ud-train.conllu"
    path.write_text(treebank_text(), encoding="utf-8")
    return path


class KilledError(Exception):
    """Stands for the end of the process."""


def killed_after(monkeypatch, event, number):
    """Let training end when something has happened so many times: a stage is trained, or a fold is predicted."""
    calls = 0

    def counted(function):
        def run(*arguments, **options):
            nonlocal calls
            calls += 1
            if calls > number:
                raise KilledError
            return function(*arguments, **options)

        return run

    if event == "stage":
        monkeypatch.setattr(train.Trainer, "_train", counted(train.Trainer._train))
    else:
        monkeypatch.setattr(train, "predicted_fold", counted(jackknife.predicted_fold))


@pytest.mark.parametrize(("event", "number"), [("stage", 0), ("stage", 1), ("stage", 2), ("fold", 0), ("fold", 2)])
def test_a_killed_training_resumes_after_the_last_finished_stage(treebank, tmp_path, monkeypatch, event, number):
    options = {"folds": 3, "n_jobs": 1, "parser": SMALL}
    Pipeline.train(treebank, treebank, order=1, **options).save(tmp_path / "undisturbed")
    checkpoint = tmp_path / "model.checkpoint"
    with monkeypatch.context() as patch:
        killed_after(patch, event, number)
        with pytest.raises(KilledError):
            Pipeline.train(treebank, treebank, checkpoint=checkpoint, order=1, **options)
    lines = []
    Pipeline.train(treebank, treebank, checkpoint=checkpoint, watch=lines.append, order=1, **options).save(
        tmp_path / "resumed"
    )
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "undisturbed").read_bytes()
    assert len([line for line in lines if ": from " in line]) == (number if event == "stage" else 3)
    assert not list(tmp_path.glob("*.checkpoint"))


def test_checkpoints_of_other_options_or_data_and_damaged_ones_are_refused(treebank, tmp_path, monkeypatch):
    checkpoint = tmp_path / "model.checkpoint"
    with monkeypatch.context() as patch:
        killed_after(patch, "fold", 1)
        with pytest.raises(KilledError):
            Pipeline.train(treebank, checkpoint=checkpoint, order=1, folds=3, n_jobs=1)

    def refused(message, **options):
        with pytest.raises(InputError, match=message):
            Pipeline.train(treebank, checkpoint=checkpoint, order=1, n_jobs=1, **options)

    refused(r"tokens.checkpoint is the checkpoint of another training \(random_state differ\)", random_state=1)
    refused(r"fold-1.checkpoint is the checkpoint of another training \(folds differ\)", folds=2)
    fold = read_container(tmp_path / "model.fold-1.checkpoint", "pipeline fold")
    fold.arrays["upos"] = fold.arrays["upos"] + 99
    write_container(tmp_path / "model.fold-1.checkpoint", "pipeline fold", fold.meta, fold.arrays)
    refused(r"fold-1.checkpoint: its columns cannot be right: remove it", folds=3)
    (tmp_path / "model.tags.checkpoint").write_bytes(b"nothing")
    refused(r"tags.checkpoint: .*: remove it to start again", folds=3)
    treebank.write_text(treebank_text(9), encoding="utf-8")
    refused(r"another training \(data differ\)", folds=3)


@pytest.mark.slow
def test_after_a_real_kill_the_same_command_gives_the_same_bytes(garden, tmp_path):
    command = [
        sys.executable,
        "-m",
        "swvp",
        "train",
        "pipeline",
        str(TRAIN),
        "--dev",
        str(DEV),
        "--order",
        "1",
        "--folds",
        "2",
    ]
    subprocess.run([*command, "-m", "undisturbed", "-j", "1"], cwd=tmp_path, check=True, capture_output=True)
    process = subprocess.Popen([*command, "-m", "model", "-j", "2"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("lemmas"):
            process.send_signal(signal.SIGKILL)
            break
    process.communicate()
    assert (tmp_path / "model.tags.checkpoint").exists()
    done = subprocess.run(
        [*command, "-m", "model", "-j", "2"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert "tags: from model.tags.checkpoint" in done.stderr
    assert (tmp_path / "model").read_bytes() == (tmp_path / "undisturbed").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "undisturbed"]


@pytest.mark.slow
def test_ctrl_c_in_a_stage_is_one_line(garden, tmp_path):
    command = [sys.executable, "-m", "swvp", "train", "pipeline", str(TRAIN), "--folds", "20", "-m", "model"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("fold 1"):
            process.send_signal(signal.SIGINT)
            break
    err = [line for line in process.communicate()[1].splitlines() if not line.startswith("fold")]
    assert err == ["stopped; run the same command again to resume after the last finished stage"]
    assert process.returncode == 130


def test_real_stages_give_the_same_file_for_any_number_of_threads(garden, tmp_path):
    garden.save(tmp_path / "one")
    Pipeline.train(TRAIN, DEV, order=1, folds=2, n_jobs=3, parser={"epochs": 4, "hashed": 2**16}).save(
        tmp_path / "three"
    )
    assert (tmp_path / "one").read_bytes() == (tmp_path / "three").read_bytes()


def test_stages_take_their_own_options(garden):
    pipeline = Pipeline.train(
        TRAIN,
        order=1,
        folds=1,
        tokens={"epochs": 1},
        tags={"epochs": 2},
        lemmas={"places": 2**10},
        parser={"ensemble": 2, **SMALL},
    )
    assert pipeline.parts["tokens"].epochs == 1
    assert len(pipeline.parts["lemmas"].weights) == 2**10
    assert pipeline.parts["trees"].parser.epochs == 3
    assert len(pipeline.parts["trees"].parser.others_) == 1


@pytest.mark.parametrize("options", [{"tags": {"epoch": 2}}, {"parser": {"epoch": 2}}, {"tokens": {"dev": None}}])
def test_unknown_options_of_stages_are_an_error_that_lists_the_known_ones(options):
    with pytest.raises(InputError, match=r"unknown option of .*epochs"):
        Pipeline.train(TRAIN, **options)


def test_a_treebank_without_spaces_says_that_blanks_divide_tokens(tmp_path):
    path = tmp_path / "train.conllu"
    path.write_text(without_columns(TRAIN.read_text(encoding="utf-8"), 9), encoding="utf-8")
    lines = []
    pipeline = Pipeline.train(path, stages="tokens", watch=lines.append)
    assert lines[1] == (
        "note: 0 of 336 tokens have SpaceAfter=No: tokens are learnt as divided by blanks, also punctuation"
    )
    assert [token.text for token in pipeline("Ann saw Bob .").tokens] == ["Ann", "saw", "Bob", "."]


def test_a_file_without_misc_has_no_stage_of_tokens(tmp_path):
    lines = TRAIN.read_text(encoding="utf-8").split("\n")
    (tmp_path / "six.conllu").write_text("\n".join("\t".join(line.split("\t")[:6]) for line in lines), encoding="utf-8")
    notes = []
    assert Pipeline.train(tmp_path / "six.conllu", tags={"epochs": 1}, watch=notes.append).stages == ("tags", "lemmas")
    assert notes[0].startswith("note: no stage tokens: the file has 6 columns, without MISC")


@pytest.mark.parametrize("change", [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text])
def test_ends_of_lines_and_a_byte_order_mark_do_not_change_what_is_learnt(tmp_path, change):
    path = tmp_path / "changed.conllu"
    path.write_bytes(change(TRAIN.read_text(encoding="utf-8")).encode())
    for name, source in (("as it is", TRAIN), ("changed", path)):
        Pipeline.train(source, stages="tokens,tags,lemmas", tags={"epochs": 1}).save(tmp_path / name)
    assert (tmp_path / "changed").read_bytes() == (tmp_path / "as it is").read_bytes()


def test_a_dictionary_goes_before_the_lemmatizer_and_is_saved(garden, tmp_path):
    (tmp_path / "lemmas.tsv").write_text("dogs\thound\nsaw\tNOUN\tsaw\n", encoding="utf-8")
    pipeline = Pipeline.train(TRAIN, stages="tags,lemmas", lexicon=tmp_path / "lemmas.tsv")
    pipeline.save(tmp_path / "model")
    loaded = Pipeline.load(tmp_path / "model")
    assert [word.lemma for word in loaded([["Ann", "saw", "dogs"]]).words] == ["Ann", "see", "hound"]
    loaded.add_lexicon({("dogs", ""): "pooch"})
    assert loaded([["dogs"]]).words[0].lemma == "pooch"
    with pytest.raises(InputError, match="no stage lemmas"):
        Pipeline.train(TRAIN, stages="tags", lexicon=tmp_path / "lemmas.tsv")


def test_some_stages_of_a_pipeline_can_be_used(garden):
    words = garden.only("tokens,tags")("Ann doesn't walk.").words
    assert [(word.form, word.upos, word.lemma, word.head) for word in words][1:3] == [
        ("does", "AUX", "_", None),
        ("n't", "PART", "_", None),
    ]
    with pytest.raises(InputError, match="no stage trees, it has tokens"):
        garden.only("tokens").only("trees")
