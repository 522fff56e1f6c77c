"""The training of the paper (Appendix A.2)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from src.data import LabelExamples, RationaleExamples, SciFact, encode_pairs
from src.evaluate import bootstrap, evaluate_task, label_accuracy, selection_scores
from src.inference import AbstractRetrieval, Tokenize, label_probabilities, oracle_rationales, score_sentences, select_rationales, verify_claim
from src.loss import label_loss, rationale_loss
from src.model import LabelPrediction, RationaleSelection
from src.utils import Config, load_config

Loss = Callable[[Tensor, Tensor, Config], Tensor]


Phase = tuple[float, float, int]  # the rates of the transformer base and of the linear layer, and the epochs


def settings_of(component: str, data: str, phase: str, config: Config) -> Phase:
    """The settings of "rationale" or "label", trained on `data` ("scifact", "fever", "snopes", "fever_scifact"), in the phase that
    sees `phase` ("scifact", "fever" or "snopes").

    §6.1 — "(4) Fever pretraining followed by SciFact fine-tuning.": two phases.

    §6.2 — "we use the RationaleSelection module trained on SciFact only, and the LabelPrediction module trained on Fever + SciFact for
      our final end-to-end system VeriSci."

    §6.2 — "The “Zero-shot” setting reports the zero-shot generalization performance of a model trained on Fever": no second phase.

    [PARTIALLY_SPECIFIED] rates of the label predictor for Fever + SciFact: Appendix A.3 — "only change the learning rate to 1e-5 for the
      transformer base and 1e-4 for the linear layer for models trained on SciFact, Fever, and UKP Snopes."; open: Fever + SciFact
      Using: the rates of the sentence in both phases
      Alternatives: 1e-5 for the entire model, as Appendix A.2 has it for the rationale selector

    Appendix A.2 — "We only train the model for 3 epochs on Fever and 5 epochs on UKP Snopes because they are larger datasets and the
      models converged within early epochs."

    Appendix A.4 — "For the RationaleSelection module, it takes about 150 minutes to train on SciFact for 20 epochs."
    """
    if phase not in data.split("_"):
        raise ValueError(f"{data} has no phase {phase}")
    r, epochs = config.rationale, config.training
    rates = {
        ("rationale", "scifact"): (r.scifact_lr_base, r.scifact_lr_linear),
        ("rationale", "fever"): (r.fever_lr_base, r.fever_lr_linear),
        ("rationale", "snopes"): (r.snopes_lr_base, r.snopes_lr_linear),
        ("rationale", "fever_scifact"): (r.fever_scifact_lr_base, r.fever_scifact_lr_linear),
        ("label", data): (config.label.lr_base, config.label.lr_linear),
    }
    return *rates[component, data], {"scifact": epochs.epochs_scifact, "fever": epochs.epochs_fever, "snopes": epochs.epochs_snopes}[phase]


def threshold_of(data: str, config: Config) -> float:
    """The threshold t of a rationale selector trained on `data`.

    Appendix A.1 — "The best threshold was $t=0.025$ when training on Fever, and $t=0.75$ when training on UKP Snopes."
    """
    return {"scifact": config.rationale.t_scifact, "fever": config.rationale.t_fever, "snopes": config.rationale.t_snopes}[data]


def learning_rate_factor(epoch: int, epochs: int, config: Config) -> float:
    """Appendix A.2

    [PARTIALLY_SPECIFIED] schedule: Appendix A.2 — "apply cosine learning rate decay over 20 epochs to find the best
      performing model on the dev set."; open: whether the rate changes with each update or each epoch, where it ends,
      and what Fever (3 epochs) and UKP Snopes (5 epochs) use
      Using: cosine from 1 to 0 over 20 epochs, one step for an epoch, for every training set
      Alternatives: over the epochs of each training set; one step for an update

    [FROM_OFFICIAL_CODE] warm-up: 0
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L60

    [UNSPECIFIED] end of the schedule
      Using: 0.0, where a cosine of half a period ends
      Reason: our choice: A.2 says cosine decay and no end
      Alternatives: a share of the first rate

    Takes epoch: int; epochs: int.
    Gives factor: scalar.
    """
    warmup, floor = config.training.warmup_epochs, config.training.floor
    if epoch < warmup:
        return (epoch + 1) / warmup
    progress = min(1.0, (epoch - warmup) / (epochs - warmup))
    return floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2  # (1 + cos(π · epoch / epochs)) / 2 without warm-up and floor


def parameter_groups(model: nn.Module, lr_base: float, lr_linear: float) -> list[dict]:
    """Appendix A.2

    [FROM_OFFICIAL_CODE] optimiser: "Adam with two groups of parameters"
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L56-L59

    Appendix A.2 — "For models trained on SciFact, we use an initial learning rate of 1e-5 on the transformer base and
      1e-3 on the linear layer."

    Appendix A.3 — "only change the learning rate to 1e-5 for the transformer base and 1e-4 for the linear layer for
      models trained on SciFact, Fever, and UKP Snopes."

    Appendix A.2 — "For Fever + SciFact, the learning rate is set to 1e-5 for the entire model"

    Takes model: object; lr_base: scalar; lr_linear: scalar.
    Gives groups: object.
    """
    return [
        {"params": list(model.encoder.parameters()), "lr": lr_base},  # the transformer base
        {"params": list(model.f.parameters()), "lr": lr_linear},  # the linear layer
    ]


def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, examples: Sequence[tuple[str, str, float]], loss_of: Loss, tokenize: Tokenize, config: Config
) -> float:
    """Appendix A.2

    [FROM_OFFICIAL_CODE] examples in one forward pass: 8
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L19-L20

    [PARTIALLY_SPECIFIED] accumulation: Appendix A.2 — "We use a batch size of 256 through gradient accumulation"; open:
      how the gradients of the micro-batches are put together, and what happens to the rest of an epoch
      Using: the loss of an update is the mean over its examples; the rest of an epoch makes an update of its own
      Alternatives: the sum of the means of the micro-batches, the rest carried into the next epoch, as the official
      code does:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L98-L105

    [UNSPECIFIED] gradient-clipping
      Using: none
      Reason: our choice: not named, and the official code has none
      Alternatives: a global norm of 1.0

    Takes model: object; optimizer: object; examples: object.
    Gives loss: scalar.
    Axes: mean over the examples of one update, not over micro-batches.
    """
    model.train()
    optimizer.zero_grad()
    total = 0.0
    for at in range(0, len(examples), config.training.micro_batch):
        part = examples[at : at + config.training.micro_batch]
        ids, mask = encode_pairs([tokenize(text) for text, _, _ in part], [tokenize(claim) for _, claim, _ in part], config)
        target = torch.tensor([value for _, _, value in part])  # (micro_batch,) float for z, int for y
        loss = loss_of(model(ids, mask), target, config) * len(part) / len(examples)  # its share of the mean over the whole batch
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def train(
    model: nn.Module,
    examples: Sequence[tuple[str, str, float]],
    settings: Phase,
    loss_of: Loss,
    score: Callable[[nn.Module], float],
    tokenize: Tokenize,
    generator: torch.Generator,
    config: Config,
    checkpoint: Path | None = None,
) -> list[tuple[float, float]]:
    """Appendix A.2

    [FROM_OFFICIAL_CODE] betas: 0.9; 0.999
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L56-L59

    [FROM_OFFICIAL_CODE] optimiser-epsilon: 1.0e-8
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L56-L59

    [FROM_OFFICIAL_CODE] weight-decay: 0.0
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L56-L59

    Appendix A.2 — "We use a batch size of 256 through gradient accumulation and apply cosine learning rate decay over
      20 epochs to find the best performing model on the dev set."

    [FROM_OFFICIAL_CODE] step of the schedule: "after each epoch"
      Source:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L106

    [UNSPECIFIED] what passes from Fever to SciFact
      Using: the weights of the encoder and of f; the optimiser and the schedule start anew
      Reason: our choice: the paper says pretraining followed by fine-tuning; the official documentation loads the saved
      model and starts the second script
      Alternatives: f starts anew as well

    [UNSPECIFIED] precision
      Using: float32
      Reason: our choice: not named
      Alternatives: mixed precision

    [UNSPECIFIED] seeds
      Using: 0: one seed for the draws of k, the order and the start of f
      Reason: our choice: the paper names no seed; what the sweep found are seed documents of the corpus and resampled
      test sets
      Alternatives: several seeds with a spread

    Appendix A.5 — "We perform manual tuning and select the hyperparameters that produce the highest F1 on the
      development set."

    [PARTIALLY_SPECIFIED] which epoch is kept: Appendix A.2 — "over 20 epochs to find the best performing model on the
      dev set."; open: by which measure, and on the dev set of which data in the phase on Fever: A.5 says F1 for the
      hyperparameters
      Using: the epoch with the highest score on the dev set of the phase, the first of equals: for rationales the F1 of
      §6.1 on gold abstracts, for labels the accuracy of §6.1
      Alternatives: the last epoch; macro F1 of the labels, and F1 of single sentences, as the official code prints:
      https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/label_prediction/transformer_scifact.py#L132-L137;
      the dev set of SciFact in every phase

    [UNSPECIFIED] data-order
      Using: shuffled anew in each epoch, single sentences and not whole abstracts
      Reason: our choice: not named; the official code shuffles
      (https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L97)
      Alternatives: kept in the order of the file

    Takes model: object; examples: object; epochs: int; seed: int.
    Gives history: object.
    """
    lr_base, lr_linear, epochs = settings
    optimizer = torch.optim.Adam(
        parameter_groups(model, lr_base, lr_linear),
        lr=lr_base,  # each group has its own
        betas=tuple(config.training.betas),
        eps=config.training.epsilon,
        weight_decay=config.training.weight_decay,
        amsgrad=False,  # [FROM_OFFICIAL_CODE] plain Adam. Source: https://github.com/allenai/scifact/blob/68b98a56d93e0f9da0d2aab4e6c3294699a0f72e/verisci/training/rationale_selection/transformer_scifact.py#L56-L59
    )
    done, history, best, kept = 0, [], -math.inf, copy.deepcopy(model.state_dict())
    if checkpoint is not None and checkpoint.exists():
        done, history, best, kept = restore_checkpoint(checkpoint, model, optimizer, generator)
    for epoch in range(done, epochs):
        factor = learning_rate_factor(epoch, config.training.schedule_epochs, config)  # constant within an epoch
        for group, rate in zip(optimizer.param_groups, (lr_base, lr_linear), strict=True):
            group["lr"] = rate * factor
        order = torch.randperm(len(examples), generator=generator).tolist()  # shuffled anew in each epoch
        losses = []
        for at in range(0, len(order), config.training.batch_size):  # the last batch of an epoch may be smaller
            batch = [examples[i] for i in order[at : at + config.training.batch_size]]
            losses.append(train_step(model, optimizer, batch, loss_of, tokenize, config))
        value = score(model)
        history.append((sum(losses) / len(losses), value))
        if value > best:  # "to find the best performing model on the dev set"; the first of equals
            best, kept = value, copy.deepcopy(model.state_dict())
        if checkpoint is not None:
            keep_checkpoint(checkpoint, model, optimizer, generator, (epoch + 1, history, best, kept))
    model.load_state_dict(kept)
    return history


def keep_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator, progress: tuple) -> None:
    """What it takes to go on with the training of Appendix A.2: the epochs done, the history, the best score and its weights."""
    random = {"global": torch.get_rng_state(), "order": generator.get_state()}
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": random, "progress": progress}, path)


def restore_checkpoint(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator) -> tuple:
    """The progress of the training of Appendix A.2 that was saved; model, optimiser and random numbers are set to it."""
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"]["global"])
    generator.set_state(state["random"]["order"])
    return state["progress"]


def plot_schedule(path: Path, config: Config) -> None:
    """The schedule of Appendix A.2 over its epochs, as a picture."""
    from matplotlib import pyplot

    epochs = config.training.schedule_epochs
    figure, axes = pyplot.subplots()
    axes.plot(range(epochs), [learning_rate_factor(epoch, epochs, config) for epoch in range(epochs)])
    axes.set_xlabel("epoch")
    axes.set_ylabel("factor on the learning rates")
    figure.savefig(path)
    pyplot.close(figure)


def selection_f1(selector: nn.Module, scifact: SciFact, tokenize: Tokenize, t: float, config: Config) -> float:
    """§6.1 — "The RationaleSelection module is evaluated on its ability to select rationale sentences given gold abstracts.": F1."""
    selected = [
        {doc: select_rationales(score_sentences(selector, scifact.corpus[doc].sentences, claim.text, tokenize, config), t) for doc in claim.evidence}
        for claim in scifact.claims
    ]
    return float(selection_scores(scifact.claims, selected, config)[-1])


def accuracy(predictor: nn.Module, examples: LabelExamples, tokenize: Tokenize, config: Config) -> float:
    """§6.1 — "its 3-way label classification accuracy given gold rationales from cited abstracts" """
    guesses = [int(label_probabilities(predictor, rationale, claim, tokenize, config).argmax(-1)) for rationale, claim, _ in examples]
    return label_accuracy(torch.tensor([y for _, _, y in examples]), torch.tensor(guesses))


def full_task(
    selector: nn.Module,
    predictor: nn.Module,
    scifact: SciFact,
    oracle_abstract: bool,
    oracle_rationale: bool,
    tokenize: Tokenize,
    t: float,
    stop_words: frozenset[str],
    config: Config,
) -> list[dict]:
    """The predictions of §6.2 for every claim, in the rows of Table 4: the abstracts are retrieved ("Open") or the gold ones ("Oracle abstract"),
    the rationales are selected or the gold ones of the abstracts at hand ("Oracle rationale").
    """
    retrieval = AbstractRetrieval(scifact.corpus, stop_words, config)
    predicted = []
    for claim in scifact.claims:
        found = list(claim.evidence) if oracle_abstract else retrieval(claim.text)
        oracle = oracle_rationales(claim, found) if oracle_rationale else None
        documents = {doc: scifact.corpus[doc] for doc in found}
        predicted.append(verify_claim(claim.text, documents, selector, predictor, tokenize, t, config, oracle))
    return predicted


def main(path: str, encoder: nn.Module, tokenize: Tokenize) -> None:
    """The runs of Appendix A.2 for the final system of §6.2, with the settings of the file at `path`.

    Reads data/scifact and data/fever beside configs/, each with corpus.jsonl, claims_train.jsonl and claims_dev.jsonl, and
    data/stop_words.txt, one word a line. Appendix A — "All models are implemented using the Huggingface Transformers package": `encoder` is the
    pre-trained model of that package as a map from ids and mask to (batch, n, hidden), `tokenize` its tokenizer without special tokens;
    README.md has both in a few lines. Nothing is downloaded.
    """
    config = load_config(path)
    root = Path(path).resolve().parent.parent
    stop_words = frozenset((root / "data" / "stop_words.txt").read_text(encoding="utf-8").split())
    folds = {
        (data, fold): SciFact(config, str(root / "data" / data / "corpus.jsonl"), str(root / "data" / data / f"claims_{fold}.jsonl"))
        for data in ("scifact", "fever")
        for fold in ("train", "dev")
    }
    torch.manual_seed(config.training.seed)  # the start of f, and the dropout of the encoder
    generator = torch.Generator().manual_seed(config.training.seed)  # the draws of k, and the order
    t = threshold_of("scifact", config)
    dev = folds["scifact", "dev"]

    selector = RationaleSelection(copy.deepcopy(encoder), config)
    settings = settings_of("rationale", "scifact", "scifact", config)
    examples = RationaleExamples(folds["scifact", "train"])
    train(selector, examples, settings, rationale_loss, lambda m: selection_f1(m, dev, tokenize, t, config), tokenize, generator, config, root / "rationale.pt")

    predictor = LabelPrediction(copy.deepcopy(encoder), config)  # "a separate BERT-based model" (§5)
    for phase in ("fever", "scifact"):
        settings = settings_of("label", "fever_scifact", phase, config)
        examples = LabelExamples(folds[phase, "train"], config.data.noinfo_k, stop_words, generator, config)
        held_out = LabelExamples(folds[phase, "dev"], [config.evaluation.noinfo_k], stop_words, generator, config)
        measure = lambda m, held_out=held_out: accuracy(m, held_out, tokenize, config)  # noqa: E731
        train(predictor, examples, settings, label_loss, measure, tokenize, generator, config, root / f"label_{phase}.pt")

    plot_schedule(root / "schedule.png", config)
    for oracle_abstract in (True, False):
        for oracle_rationale in (True, False):
            predicted = full_task(selector, predictor, dev, oracle_abstract, oracle_rationale, tokenize, t, stop_words, config)
            scores, spread = evaluate_task(dev.claims, predicted, config), bootstrap(dev.claims, predicted, generator, config)
            print(f"oracle abstract: {oracle_abstract}, oracle rationale: {oracle_rationale}", scores, spread)
