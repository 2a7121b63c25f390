"""The planner's commands as functions; each returns what `stepwright COMMAND --json` prints."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from . import _planner
from .answers import (
    Advice,
    Calibration,
    Check,
    CollectiveFit,
    Comparison,
    Diagnosis,
    Lengths,
    MeasuredFit,
    Memory,
    MemoryFit,
    OperatorFit,
    PhasedStep,
    Prediction,
    SweepPoint,
    Traffic,
    Tuning,
    Validation,
    WholeRun,
)
from .argument_words import argument_words
from .configurations import is_configuration, ranks_of, texts_of
from .documents import Document, Job, Plan
from .errors import InputError, error_of
from .nothing_fits import NothingFitsError
from .parquet import is_parquet, lengths_json
from .stand_in import stand_in_program

PathLike: TypeAlias = "str | os.PathLike[str]"
JobLike: TypeAlias = "Job | Mapping[str, Any] | PathLike"
PlanLike: TypeAlias = "Plan | Mapping[str, Any] | PathLike"

_log = logging.getLogger("stepwright")


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a search is."""

    simulating: bool
    """Plans are simulated; else they are priced."""
    done: int
    """Parts of the space; when simulating, plans."""
    most: int
    """There can be no more; most searches end earlier."""
    priced: int
    """Plans, so far."""


ProgressCallback: TypeAlias = Callable[[Progress], object]


class _Given:
    """What a function is given: options as words, and documents as files."""

    def __init__(self) -> None:
        self.words: dict[str, list[str]] = {}
        self.files: dict[str, list[_planner.File]] = {}

    def file(self, name: str, kind: type[Document], given: JobLike | PlanLike) -> None:
        """Adds a document under the name of its argument."""
        self.files.setdefault(name, []).append(_file(kind, given))

    def configurations(self, given: Iterable[PlanLike | Any]) -> list[str]:
        """Adds files, plans and objects of programs; returns their names."""
        given = list(given)
        texts = texts_of(one for one in given if is_configuration(one))
        files = self.files.setdefault("configurations", [])
        files += [(name, text, os.getcwd()) for name, text in texts]
        files += [_file(Plan, one) for one in given if not is_configuration(one)]
        return [name for name, _, _ in files]

    def options(self, **values: Any) -> None:
        """Command-line options by name; None and False are left out, True takes no value."""
        for name, value in values.items():
            if value is None or value is False:
                continue
            each = value if isinstance(value, (list, tuple)) else [value]
            self.words[name] = [] if value is True else [_word(one) for one in each]

    def run(
        self, function: Callable[..., _planner.Reply], progress: ProgressCallback | None = None
    ) -> tuple[str, _planner.Failure | None]:
        """What a function of the planner answers, and how it failed."""
        return _heard(function(self.words, self.files, _tell(progress)))

    def answer(
        self, function: Callable[..., _planner.Reply], progress: ProgressCallback | None = None
    ) -> str:
        """What a function answers, where it does what it should."""
        return _good(*self.run(function, progress))


class _CommandLine:
    """A command line that is being put together, with the documents that stand in memory."""

    def __init__(self, command: str, *, captures: bool = False) -> None:
        self.arguments = [command, "--json"]
        self.captures = captures
        self.texts: list[_planner.File] = []

    def file(self, kind: type[Document], given: PlanLike) -> str:
        """The name under which the command finds a document."""
        name, text, folder = _file(kind, given)
        if text is not None:
            self.texts.append((name, text, folder))
        return name

    def configurations(self, given: Iterable[PlanLike | Any]) -> list[str]:
        """The names under which the command finds files, plans and objects of programs."""
        given = list(given)
        texts = texts_of(one for one in given if is_configuration(one))
        self.texts += [(name, text, os.getcwd()) for name, text in texts]
        names = [name for name, _ in texts]
        return names + [self.file(Plan, one) for one in given if not is_configuration(one)]

    def options(self, **values: Any) -> None:
        """Options by their names; None and False are left out, of a list each is given."""
        for name, value in values.items():
            flag = "--" + name.replace("_", "-")
            if value is None or value is False:
                continue
            for each in value if isinstance(value, (list, tuple)) else [value]:
                self.arguments += [flag] if each is True else [flag, _word(each)]

    def run(self) -> tuple[str, _planner.Failure | None]:
        """What the command prints, and how it failed."""
        with stand_in_program() if self.captures else contextlib.nullcontext("") as stand_in:
            return _heard(_planner.command(self.arguments, self.texts, stand_in))

    def answer(self) -> str:
        """What the command prints, where it does what it should."""
        return _good(*self.run())


def _file(kind: type[Document], given: JobLike | PlanLike) -> _planner.File:
    """The path of a file, or the text of a document that stands in memory.

    Raises `TypeError` for what is neither.
    """
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given), None, ""
    document = given if isinstance(given, kind) else kind(given)
    return document.name, document.text, document.folder


def _paths(given: PathLike | Iterable[PathLike] | None) -> list[PathLike] | None:
    """One path or several as a list."""
    if given is None or isinstance(given, (str, os.PathLike)):
        return None if given is None else [given]
    return list(given)


def _tell(progress: ProgressCallback | None) -> _planner.Tell | None:
    if progress is None:
        return None

    def tell(simulating: bool, done: int, most: int, priced: int) -> None:
        progress(Progress(simulating=simulating, done=done, most=most, priced=priced))

    return tell


def _heard(reply: _planner.Reply) -> tuple[str, _planner.Failure | None]:
    """Passes messages on to `logging`."""
    text, messages, failure = reply
    for level, message in messages:
        _log.log(logging.WARNING if level == "warning" else logging.INFO, "%s", message)
    return text, failure


def _good(text: str, failure: _planner.Failure | None) -> str:
    if failure:
        raise error_of(failure)
    return text


def _word(value: Any) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def tune(
    job: JobLike,
    *,
    top: int | None = None,
    exhaustive: bool = False,
    against: PlanLike | None = None,
    framework: str | None = None,
    tokens: float | None = None,
    price_per_gpu_hour: float | None = None,
    memory_confidence: float | None = None,
    memory_reserve: float | None = None,
    output: PathLike | None = None,
    report: PathLike | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Tuning:
    """Finds the plan to train with; `Tuning.best` is it.

    Args:
        job: A `Job`, a mapping with the same keys, or the path of a file.
        top: Plans to return, best first; 10.
        exhaustive: Prices every legal plan instead of bounding: same answer, slower.
        against: A plan of your own; `Tuning.against` says what to change in it.
        framework: Only plans that this framework runs, with its defaults; overrides the job.
        tokens: To train on; plans then also say `days` and `gpu_hours`.
        price_per_gpu_hour: Price of one GPU, in any currency; plans then also have `cost`.
        memory_confidence: Probability with which plans fit in memory; 0.9.
        memory_reserve: Instead, share of the memory that plans leave free.
        output: Where to write the best plan.
        report: Where to write the answer as a page of pictures.
        threads: One per processor; the answer does not depend on it.
        progress: Called between rounds of the search; what it raises ends the search, and so does
            Ctrl-C.

    Raises:
        NothingFitsError: No plan fits in memory; its `tuning` has the one that needs the least.
        InputError: The job is wrong, or no plan is legal.
    """
    call = _Given()
    call.file("job", Job, job)
    if against is not None:
        call.file("against", Plan, against)
    call.options(
        top=top,
        exhaustive=exhaustive,
        framework=framework,
        tokens=tokens,
        price_per_gpu_hour=price_per_gpu_hour,
        memory_confidence=memory_confidence,
        memory_reserve=memory_reserve,
        output=output,
        report=report,
        threads=threads,
    )
    return _tuning(*call.run(_planner.tune, progress))


def sweep(
    job: JobLike,
    field: str,
    values: Iterable[float | str],
    *,
    tokens: float | None = None,
    price_per_gpu_hour: float | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> list[SweepPoint]:
    """The best plan for each value of a field of the job, in the order of the values.

    Args:
        job: As in `tune`; the job's own value of the field is searched, too.
        field: A dotted path: "cluster.nodes", "batch.sequences", "cluster.nic", "cluster.profile".
        values: Numbers, names, or factors as "2x".
        tokens: To train on; points then also say `days` and `gpu_hours`.
        price_per_gpu_hour: Price of one GPU; points then also have `cost`.
        threads: One per processor.
        progress: As in `tune`.
    """
    call = _Given()
    call.file("job", Job, job)
    call.options(
        top=1,
        sweep=f"{field}={','.join(str(value) for value in values)}",
        tokens=tokens,
        price_per_gpu_hour=price_per_gpu_hour,
        threads=threads,
    )
    text, failure = call.run(_planner.tune, progress)
    if failure and not text:
        raise error_of(failure)
    return Tuning.from_text(text).sweep or []


def advise(
    job: JobLike,
    runs: PathLike,
    *,
    candidates: PathLike | None = None,
    next: int | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> Advice:
    """What your own runs of a job teach: the best plan now, and which to measure next.

    Args:
        job: As in `tune`.
        runs: A table of your runs, successes and failures (docs/formats.md, "Own runs").
        candidates: A table of the plans to choose among; else those of a search.
        next: Plans to name; 3.
        threads: One per processor.
        progress: As in `tune`.
    """
    call = _Given()
    call.file("job", Job, job)
    call.options(runs=runs, candidates=candidates, next=next, threads=threads)
    text, failure = call.run(_planner.advise, progress)
    if failure and not text:
        raise error_of(failure)
    return Advice.from_text(text)


def predict(
    plan: PlanLike,
    *,
    set: Mapping[str, Any] | None = None,
    tokens: float | None = None,
    price_per_gpu_hour: float | None = None,
    memory_confidence: float | None = None,
    memory_reserve: float | None = None,
    trace: PathLike | None = None,
    program: PathLike | None = None,
    report: PathLike | None = None,
) -> Prediction:
    """How long a step takes and where the time goes.

    Args:
        plan: A `Plan`, a mapping with the same keys, or the path of a file.
        set: Changed fields, as {"cluster.nic": "2x", "micro_batch": 2}. The answer is then
            of the changed plan, and its `baseline` of the plan as it is.
        tokens: To train on; the answer then also says `days` and `gpu_hours`.
        price_per_gpu_hour: Price of one GPU, in any currency; the answer then also has `cost`.
        memory_confidence: Probability with which the plan is to fit in memory; 0.9.
        memory_reserve: Instead, share of the memory to leave free.
        trace: Where to write the timeline (Chrome trace, for ui.perfetto.dev).
        program: Where to write every operator of the step (JSON).
        report: Where to write the answer as a page of pictures.
    """
    call = _Given()
    call.file("plan", Plan, plan)
    call.options(
        set=_assignments(set),
        tokens=tokens,
        price_per_gpu_hour=price_per_gpu_hour,
        memory_confidence=memory_confidence,
        memory_reserve=memory_reserve,
        trace=trace,
        program=program,
        report=report,
    )
    return Prediction.from_text(call.answer(_planner.predict))


def run(
    plan: PlanLike | JobLike,
    *,
    tokens: float | None = None,
    price_per_gpu_hour: float | None = None,
    device_mttf: float | str | None = None,
    failures_per_device_hour: float | None = None,
    restart: float | str | None = None,
    repair: float | str | None = None,
    spare_nodes: int | None = None,
    checkpoints: str | None = None,
    storage: float | str | None = None,
    host_copy: float | str | None = None,
    checkpoint_interval: float | str | None = None,
    evaluation: float | None = None,
    evaluation_tokens: float | None = None,
    evaluation_every: int | None = None,
    straggler_spread: float | None = None,
    simulate: int | None = None,
    seed: int | None = None,
    memory_confidence: float | None = None,
    memory_reserve: float | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> WholeRun:
    """How long the whole run takes, with failures, restarts, checkpoints and evaluation.

    Args:
        plan: As in `predict`; or a job, whose plans are compared by their whole runs.
        tokens: To train on, where the job does not say it.
        price_per_gpu_hour: Price of one GPU, in any currency; the answer then also has `cost`.
        device_mttf: Mean time to failure of a device: seconds, or "50000h".
        failures_per_device_hour: Instead; 0: none fails.
        restart: From a failure to the first step after it: seconds, or "10min".
        repair: Until the node of a failure can be used again.
        spare_nodes: That wait beside those in use.
        checkpoints: "exposed" or "asynchronous".
        storage: Rate at which all ranks together write a checkpoint: bytes/s, or "100GB/s".
        host_copy: For asynchronous checkpoints: rate of copies from one device to its host.
        checkpoint_interval: From one checkpoint to the next; the best without it.
        evaluation: Share of the time of steps and evaluation.
        evaluation_tokens: Instead: of one evaluation.
        evaluation_every: Steps from one such evaluation to the next.
        straggler_spread: Standard deviation of the time of a step over devices, as a share of it.
        simulate: Runs to play event by event beside the closed form.
        seed: Seed of the random numbers of the simulated runs.
        memory_confidence: Probability with which plans fit in memory; 0.9.
        memory_reserve: Instead, share of the memory that plans leave free.
        threads: Threads of the search for a job; default one per processor.
        progress: As in `tune`; only for a job.
    """
    call = _Given()
    call.file("plan", _kind_of(plan), plan)
    call.options(
        tokens=tokens,
        price_per_gpu_hour=price_per_gpu_hour,
        device_mttf=device_mttf,
        failures_per_device_hour=failures_per_device_hour,
        restart=restart,
        repair=repair,
        spare_nodes=spare_nodes,
        checkpoints=checkpoints,
        storage=storage,
        host_copy=host_copy,
        checkpoint_interval=checkpoint_interval,
        evaluation=evaluation,
        evaluation_tokens=evaluation_tokens,
        evaluation_every=evaluation_every,
        straggler_spread=straggler_spread,
        simulate=simulate,
        seed=seed,
        memory_confidence=memory_confidence,
        memory_reserve=memory_reserve,
        threads=threads,
    )
    return WholeRun.from_text(call.answer(_planner.run, progress))


def phases(
    plan: PlanLike | JobLike,
    *,
    memory_confidence: float | None = None,
    memory_reserve: float | None = None,
    threads: int | None = None,
    progress: ProgressCallback | None = None,
) -> PhasedStep:
    """How long the phases of a step take: log-probabilities, updates, generation, weights' way.

    Args:
        plan: As in `predict`; or a job, for which the best split of its devices is found.
        memory_confidence: As in `tune`.
        memory_reserve: As in `tune`.
        threads: As in `tune`.
        progress: As in `tune`.
    """
    call = _Given()
    call.file("plan", _kind_of(plan), plan)
    call.options(
        memory_confidence=memory_confidence,
        memory_reserve=memory_reserve,
        threads=threads,
    )
    return PhasedStep.from_text(call.answer(_planner.phases, progress))


def _kind_of(given: PlanLike | JobLike) -> type[Document]:
    """Of a mapping: a plan has its job in it."""
    if isinstance(given, Document):
        return type(given)
    return Plan if isinstance(given, Mapping) and "job" in given else Job


def traffic(
    plan: PlanLike,
    *,
    set: Mapping[str, Any] | None = None,
    rank: int | None = None,
    links: bool = False,
    matrix: PathLike | None = None,
) -> Traffic:
    """Every message of a step.

    Args:
        plan: As in `predict`.
        set: As in `predict`.
        rank: Only the messages of this rank, from 0.
        links: Also the bytes that links and NICs carry.
        matrix: Where to write the bytes that each rank sends to each other (lines from,to,bytes).
    """
    call = _Given()
    call.file("plan", Plan, plan)
    call.options(set=_assignments(set), rank=rank, links=links, matrix=matrix)
    return Traffic.from_text(call.answer(_planner.traffic))


def memory(
    plan: PlanLike,
    *,
    set: Mapping[str, Any] | None = None,
    memory_confidence: float | None = None,
    memory_reserve: float | None = None,
    snapshot: PathLike | Iterable[PathLike] | None = None,
    write_snapshot: PathLike | None = None,
) -> Memory:
    """What fills the memory of each stage at its peak; arguments as of `predict`.

    Args:
        snapshot: Files of `torch.cuda.memory._dump_snapshot` from ranks that run the plan;
            `Memory.snapshot` then compares both.
        write_snapshot: Where to write the step of the plan in that format.
    """
    options = {
        "set": _assignments(set),
        "memory_confidence": memory_confidence,
        "memory_reserve": memory_reserve,
    }
    if snapshot is None and write_snapshot is None:
        call = _Given()
        call.file("plan", Plan, plan)
        call.options(**options)
        return Memory.from_text(call.answer(_planner.memory))
    line = _CommandLine("memory")
    line.arguments.append(line.file(Plan, plan))
    line.options(**options, snapshot=_paths(snapshot), write_snapshot=write_snapshot)
    return Memory.from_text(line.answer())


def lengths(
    files: PathLike | Iterable[PathLike],
    field: str | None = None,
    *,
    characters_per_token: float | None = None,
    output: PathLike | None = None,
) -> Lengths:
    """How long the documents of a data set are.

    Args:
        files: JSON lines and Parquet (with pyarrow), one document a row, of any size; or files of
            lengths to join.
        field: The key or column with token ids, a length, text, or turns of a conversation;
            dots separate nested keys.
        characters_per_token: For text: mean characters of a token of your tokenizer.
        output: Where to write the file for `batch.lengths` of a job.
    """
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    call = _CommandLine("lengths")
    read: list[str] = []
    empty = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(paths):
            name = _word(path)
            if is_parquet(path):
                text, without = lengths_json(path, field, characters_per_token)
                empty += without
                if text is None:
                    continue
                name = os.path.join(folder, f"{number}.yaml")
                with open(name, "w", encoding="utf-8") as file:
                    file.write(text)
            read.append(name)
        if paths and not read:
            raise InputError(f"{_word(paths[0])}: holds no document")
        call.arguments += read
        if not all(is_parquet(path) for path in paths):
            call.options(field=field, characters_per_token=characters_per_token)
        call.options(output=output)
        answer = json.loads(call.answer())
    answer["empty"] += empty
    return Lengths.from_json(answer)


def validate(
    table: PathLike,
    *,
    profile: str | None = None,
    conditions: PathLike | None = None,
    tier: str | None = None,
    report: PathLike | None = None,
) -> Validation:
    """Predicts measurements and says how far off the predictions are.

    Args:
        table: Training runs, memory peaks, operators or collectives (docs/formats.md, "Tables of
            measurements").
        profile: Takes every row to be of this machine: a name or a file.
        conditions: Conditions of training instead of the built-in ones.
        tier: Only rows of these tiers: "A", "AB".
        report: Where to write the answer as a page of pictures.
    """
    call = _CommandLine("validate")
    call.arguments.append(_word(table))
    call.options(profile=profile, conditions=conditions, tier=tier, report=report)
    return Validation.from_text(call.answer())


def fit(
    samples: PathLike | Iterable[PathLike] | None = None,
    *,
    output: PathLike | None = None,
    runs: PathLike | None = None,
    conditions: PathLike | None = None,
    plan: PlanLike | None = None,
    device: str | None = None,
    name: str | None = None,
    profile: str | None = None,
    snapshot: PathLike | Iterable[PathLike] | None = None,
) -> OperatorFit | CollectiveFit | MeasuredFit | Calibration | MemoryFit:
    """Fits the cost models to measured samples, or to whole training runs of your own.

    Args:
        samples: Tables of operators or collectives, what nccl-tests printed, or traces of the
            PyTorch profiler (docs/formats.md, "Samples").
        output: The profile or file of conditions to write; required for samples.
        runs: In place of samples, a table of training runs: gives a `Calibration`.
        conditions: With runs or snapshots, where to start from; the built-in conditions.
        plan: That was running when the traces or snapshots were made: of traces gives a
            `MeasuredFit`.
        device: Device of operator samples that do not state it.
        name: Name of the profile; default the name of the file.
        profile: Machine of collective samples that do not say it.
        snapshot: In place of samples, what `torch.cuda.memory._dump_snapshot` wrote on ranks that
            run the plan: gives a `MemoryFit`.
    """
    call = _CommandLine("fit")
    if snapshot is not None and plan is not None:
        call.options(snapshot=_paths(snapshot), output=output, conditions=conditions)
        call.arguments.append(call.file(Plan, plan))
        return MemoryFit.from_text(call.answer())
    if samples is not None:
        call.arguments += [_word(path) for path in _paths(samples) or ()]
    call.options(
        output=output,
        runs=runs,
        conditions=conditions,
        plan=None if plan is None else call.file(Plan, plan),
        device=device,
        name=name,
        profile=profile,
        snapshot=_paths(snapshot),
    )
    text = call.answer()
    if runs is not None:
        return Calibration.from_text(text)
    content = json.loads(text)
    if str(content.get("stepwright", "")).startswith("measured/"):
        return MeasuredFit.from_text(text)
    if "operators" in content:
        return OperatorFit.from_text(text)
    return CollectiveFit.from_text(text)


def compare(
    plan: PlanLike, logs: PathLike | Iterable[PathLike], *, report: PathLike | None = None
) -> Comparison:
    """Whether a run sent what the plan says, call by call.

    Args:
        plan: As in `predict`.
        logs: A ledger of `stepwright train --ledger`, or logs of any program of docs/logs.md, best
            of all ranks.
        report: Where to write the answer as a page of pictures.

    A difference is no error: `Comparison.differences` lists them, and is empty where there is none.
    """
    call = _Given()
    call.file("plan", Plan, plan)
    call.options(log=_paths(logs), report=report)
    text, failure = call.run(_planner.compare)
    if failure and not text:
        raise error_of(failure)
    return Comparison.from_text(text)


def diagnose(
    *files: PathLike | PlanLike,
    cluster: str | None = None,
    row: PathLike | None = None,
    report: PathLike | None = None,
) -> Diagnosis:
    """Why a job hung, died, ran out of memory or is slow.

    Args:
        files: What the job left: logs of any launcher, dumps of PyTorch's flight recorder,
            snapshots of memory (docs/diagnose.md). Beside them a `Plan`, its file, or the files
            that started the job.
        cluster: Cluster of the job, if no file states it: "dgx-h100", or a file.
        row: A table for `advise`, to which the run is added.
        report: Where to write the answer as a page.

    A job that failed is no error: `Diagnosis.findings` says why, and is empty where nothing is
    found.
    """
    call = _CommandLine("diagnose")
    call.arguments += [call.file(Plan, file) for file in files]
    call.options(cluster=cluster, row=row, report=report)
    return Diagnosis.from_text(call.answer())


def check(
    *configurations: PlanLike | Any,
    source: str | None = None,
    model: str | None = None,
    cluster: str | None = None,
    batch: str | None = None,
    nodes: int | None = None,
    gpus: int | None = None,
    set: Mapping[str, Any] | None = None,
    function: str | None = None,
    command: int | None = None,
    capture: bool = False,
    gpus_per_node: int | None = None,
    only_launchers: bool = False,
    timeout: float | None = None,
    strict: bool = False,
    gain: float | None = None,
    logs: PathLike | Iterable[PathLike] | None = None,
    memory_confidence: float | None = None,
    memory_reserve: float | None = None,
) -> Check:
    """Whether a job starts, fits and is fast, before it is queued.

    Args:
        configurations: The files of a framework (docs/launch.md), a `Plan`, what `capture`
            returned, or objects of the program that trains (docs/python.md): `TrainingArguments`,
            a model's configuration, a `Trainer.Config`, a `ConfigContainer` and others.
        source: Whose configuration it is; else its content says.
        model: Model, if the files do not state it: a name, or the path of a config.json.
        cluster: Cluster of the job: "dgx-h100", "dgx-h100:4", or a file.
        batch: Batch of one step, if the files do not state it: "512x8192".
        nodes, gpus: Size of the job; overrides the files. For objects, the default is the number of
            ranks of this program's process group.
        set: Values that override the files: variables of a script, dotted paths of settings.
        function: For a Python file: the function that makes the configuration.
        command: Number of the command to read, if a script starts several.
        capture: The configurations are a launch script and its arguments, "bash", "job.sh": it runs
            with stand-ins for its launchers (docs/capture.md).
        gpus_per_node, only_launchers, timeout: With capture, as of `capture`.
        strict: Fails where something was not read that may change the prediction.
        gain: Share of a step that changes may save before that is a fault, as 0.05.
        logs: Logs of a run of the job, to compare with.
        memory_confidence: Probability with which the plan is to fit in memory; 0.9.
        memory_reserve: Instead, share of the memory to leave free.

    A job that should not be queued is no error: `Check.fault` says why; else it is None.
    """
    call = _CommandLine("check", captures=True) if capture else _Given()
    words = call.configurations(configurations)
    options = _reading_options(
        configurations,
        source=source,
        model=model,
        cluster=cluster,
        batch=batch,
        nodes=nodes,
        gpus=gpus,
        set=set,
        function=function,
        command=command,
        capture=capture,
        gpus_per_node=gpus_per_node,
        only_launchers=only_launchers,
        timeout=timeout,
        strict=strict,
    )
    call.options(
        gain=gain,
        log=_paths(logs),
        memory_confidence=memory_confidence,
        memory_reserve=memory_reserve,
        **options,
    )
    if isinstance(call, _CommandLine):
        call.arguments += ["--", *words]
        text, failure = call.run()
    else:
        text, failure = call.run(_planner.check)
    if failure and not text:
        raise error_of(failure)
    return Check.from_text(text)


def export(
    plan: PlanLike | None = None,
    *,
    to: str,
    release: str | None = None,
    nearest: bool = False,
    even_if_it_does_not_fit: bool = False,
    cluster: str | None = None,
    nodes: int | None = None,
    channels: int | None = None,
    collective: str | None = None,
    algorithm: str | None = None,
    tiers: Iterable[int] | None = None,
    chunks: int | None = None,
) -> str:
    """The file of another program that a plan, or one of its collectives, becomes.

    Args:
        plan: As in `predict`; for frameworks and launchers the plan to run.
        to: "megatron", "deepspeed", "torchtitan" and others (docs/launch.md), "nccl-tuner",
            "mscclpp" or "msccl-xml".
        release: Release of the framework; default that of the job, else the newest.
        nearest: If the framework does not run the plan, or it does not fit in memory, write the
            nearest that runs and fits.
        even_if_it_does_not_fit: Write the file of a plan that does not fit in memory.
        cluster, nodes, channels: Of "nccl-tuner".
        collective, algorithm, tiers, chunks: Of "mscclpp" and "msccl-xml".

    Raises:
        UnsupportedError: The framework does not run the plan; the message names what it lacks and
            the nearest plan that it runs.
        RunError: The job that the file would start does not fit in memory.
    """
    call = _CommandLine("export")
    call.arguments.remove("--json")
    call.options(
        to=to,
        plan=None if plan is None else call.file(Plan, plan),
        release=release,
        nearest=nearest,
        even_if_it_does_not_fit=even_if_it_does_not_fit,
        cluster=cluster,
        nodes=nodes,
        channels=channels,
        collective=collective,
        algorithm=algorithm,
        tiers=None if tiers is None else ",".join(str(tier) for tier in tiers),
        chunks=chunks,
    )
    return call.answer()


def _reading_options(
    configurations: Iterable[Any],
    *,
    source: str | None,
    cluster: str | None,
    nodes: int | None,
    gpus: int | None,
    set: Mapping[str, Any] | None,
    capture: bool,
    **others: Any,
) -> dict[str, Any]:
    """The options by which `check` and `import_` read configurations, as the command names them.

    Raises:
        InputError: An option of a capture is given, and nothing is captured.
    """
    for name in ("gpus_per_node", "only_launchers", "timeout"):
        if others[name] and not capture:
            raise InputError(f"{name}: is only for capture")
    if nodes is None and gpus is None:
        gpus = ranks_of(configurations, cluster)
    named = {"from": source, "cluster": cluster, "nodes": nodes, "gpus": gpus, "capture": capture}
    return others | named | {"set": _assignments(set)}


def _assignments(changes: Mapping[str, Any] | None) -> list[str]:
    return [f"{field}={_scalar(value)}" for field, value in (changes or {}).items()]


def _scalar(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tuning(text: str, failure: _planner.Failure | None) -> Tuning:
    if failure and not text:
        raise error_of(failure)
    tuning = Tuning.from_text(text)
    if failure:
        error = NothingFitsError(argument_words(failure["message"]))
        error.tuning = tuning
        raise error
    return tuning
