"""What the commands answer, as the JSON Schemas of docs/schemas/ describe it.

Written by tools/docs/python_answers.py; what is not there in an answer is None.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .answer import Answer, Part, TuningAnswer
from .documents import Plan

__all__ = [
    "Advice",
    "AdvicePrediction",
    "Against",
    "Alternative",
    "Assumed",
    "AssumedRange",
    "Baseline",
    "BestPlan",
    "Breakdown",
    "ByScheme",
    "CalibratedRun",
    "Calibration",
    "CapturedCommand",
    "CapturedFile",
    "Change",
    "Check",
    "CheckStage",
    "Checkpoints",
    "Choices",
    "Collective",
    "CollectiveFit",
    "Comparison",
    "Computation",
    "ComputationLaw",
    "Constant",
    "Contrary",
    "Device",
    "DiagnosedFile",
    "Diagnosis",
    "Documents",
    "Dropped",
    "DynamicContext",
    "EndlessRun",
    "ErrorsOf",
    "Exposed",
    "FailedAllocation",
    "Finding",
    "FindingPlace",
    "FirstUnexplained",
    "Frameworks",
    "FrontPoint",
    "Fullest",
    "Gain",
    "HeldOut",
    "HostKinds",
    "ImportedPlan",
    "Labels",
    "LaunchRecord",
    "Learned",
    "Lengths",
    "LinkLoad",
    "LinkLoads",
    "Loss",
    "MadeBy",
    "MatchedBytes",
    "MeanAbsError",
    "MeasuredFit",
    "Memory",
    "MemoryFit",
    "MemorySnapshot",
    "MemoryStage",
    "MemoryStep",
    "Message",
    "MessageLaw",
    "MissingBlocks",
    "Model",
    "Nearest",
    "NextPlan",
    "NotRead",
    "Operation",
    "Operator",
    "OperatorFit",
    "Overlap",
    "PackingGain",
    "PhasedStep",
    "PlanOfRun",
    "PoolSplit",
    "PredictedStep",
    "Prediction",
    "Profile",
    "ProposedChange",
    "Range",
    "Read",
    "Refusal",
    "Remedy",
    "Result",
    "RoutedCalls",
    "RunCandidate",
    "RunCost",
    "RunCounts",
    "RunLoss",
    "RunSummary",
    "RunTime",
    "SchemeCalls",
    "SchemeTotal",
    "SearchSpace",
    "Series",
    "Shape",
    "ShortMessages",
    "SimulatedRuns",
    "SizeCalls",
    "SizeClass",
    "SkippedRow",
    "SnapshotRank",
    "Source",
    "Spares",
    "Stage",
    "Start",
    "StepPhase",
    "StepTotals",
    "Sweep",
    "SweepPoint",
    "TimelinePoint",
    "Traffic",
    "TunedPlan",
    "Tuning",
    "TwoStrands",
    "Unbound",
    "UnexplainedBlocks",
    "UnmeasuredSize",
    "Unused",
    "Validation",
    "WeightSync",
    "WholeRun",
]


@dataclass(frozen=True, kw_only=True)
class Model(Part):
    """The model that is trained."""

    name: str
    parameters: int
    """Trained parameters."""
    active_parameters: int
    """Parameters that one token uses; with experts fewer than all."""
    trained_parameters: int | None = None
    """Where some are frozen: those that are not, adapters with them."""
    flops_per_token: float
    """FLOPs of one token, forward and backward."""


@dataclass(frozen=True, kw_only=True)
class HostKinds(Part):
    """Of `host_memory_bytes`, which they sum to."""

    states: int
    """Moments, parameters and other models that the plan leaves there."""
    activations: int
    pinned: int
    """Buffers of transfers and copies beside the states."""
    gradients: int
    """Of what the host updates."""
    processes: int
    """Each rank's process."""
    loaders: int
    """Processes that load data."""
    loading: int
    """Of the checkpoint at the start, what is above all else."""


@dataclass(frozen=True, kw_only=True)
class Computation(Part):
    """Computation by kind; sums to `compute_s`."""

    products_s: float
    """Matrix products of the layers, in seconds."""
    attention_s: float
    """The core of attention, in seconds."""
    experts_s: float
    """Grouped products of experts, in seconds."""
    routing_s: float
    """Routing of tokens to experts, in seconds."""
    memory_bound_s: float
    """Norms, activations and additions, in seconds."""
    vocabulary_s: float
    """Embedding, head and loss, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Exposed(Part):
    """Messages that nothing hides, by what is parallel."""

    tensor_s: float
    """Of tensor parallelism, in seconds."""
    context_s: float
    """Of context parallelism, in seconds."""
    expert_s: float
    """Of expert parallelism, in seconds."""
    pipeline_s: float
    """Between pipeline stages, in seconds."""
    data_s: float
    """Of data parallelism, in seconds."""
    host_s: float
    """Copies to and from hosts, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Breakdown(Part):
    """Where the time of the critical stage goes; sums to the step."""

    compute_s: float
    """Computation, in seconds."""
    computation: Computation
    """Computation by kind; sums to `compute_s`."""
    bubble_s: float
    """Waiting for other pipeline stages, in seconds."""
    optimizer_s: float
    """The update of the weights, in seconds."""
    exposed: Exposed
    """Messages that nothing hides, by what is parallel."""


@dataclass(frozen=True, kw_only=True)
class Loss(Part):
    """Loss."""

    what: Literal[
        "below_peak",
        "recomputation",
        "memory_bound",
        "routing",
        "bubble",
        "optimizer",
        "exposed_tensor",
        "exposed_context",
        "exposed_expert",
        "exposed_pipeline",
        "exposed_data",
        "exposed_host",
    ]
    """Which; below_peak: matrix products and attention below the dense peak."""
    time_s: float
    """Of the step, in seconds; below 0 where a kernel skips what the FLOPs count."""
    share: float
    """Of the step, a fraction."""


@dataclass(frozen=True, kw_only=True)
class Stage(Part):
    """Stage."""

    stage: int
    layers: int
    """Layers that it holds."""
    peak_memory_bytes: int
    """Of one device of it, in bytes."""
    end_s: float
    """When its step ends, in seconds."""
    compute_busy_s: float
    """How long it computes, in seconds."""
    breakdown: Breakdown
    """Where its time goes."""


@dataclass(frozen=True, kw_only=True)
class Frameworks(Part):
    """Where the job names no framework: step times of the plan by the frameworks that run it."""

    count: int
    """Frameworks that run the plan."""
    fastest: str
    least_s: float
    """Seconds."""
    middle_s: float
    """The median; seconds."""
    slowest: str
    most_s: float
    """Seconds."""


@dataclass(frozen=True, kw_only=True)
class UnmeasuredSize(Part):
    """UnmeasuredSize."""

    operators: list[str]
    """Names of operators."""
    how: str
    """Their size, and the measured range."""


@dataclass(frozen=True, kw_only=True)
class RunCost(Part):
    """Time of a run, and what it costs."""

    days: float
    """Of the run; days."""
    gpu_hours: float
    """Of all devices that are paid: in use, idle and spare; hours of one GPU, summed."""
    cost: float | None = None
    """Of them, with a price."""


@dataclass(frozen=True, kw_only=True)
class RunSummary(Part):
    """The whole run, as run says it in full."""

    tokens: float
    """That are trained on."""
    useful_share: float | None = None
    """Steps as predicted over the time of the run."""
    useful_low: float | None = None
    """Four times of five it is above this."""
    useful_high: float | None = None
    """And below this."""
    days: float | None = None
    """Of the run; days."""
    gpu_hours: float | None = None
    """Of all devices that are paid: in use, idle and spare; hours of one GPU, summed."""
    cost: float | None = None
    """Of them, with a price."""
    low: RunCost | None = None
    """Four times of five the run takes more than this."""
    high: RunCost | None = None
    """And less than this."""
    steps_alone: RunCost | None = None
    """Steps as predicted, and nothing else."""
    refused: str | None = None
    """Why no run would end, in place of all the rest."""


@dataclass(frozen=True, kw_only=True)
class PackingGain(Part):
    """PackingGain."""

    set: str
    """As --set takes it."""
    step_time_s: float
    """Its step; seconds."""
    document_tokens_per_s: float
    """Its tokens of documents a second; 1/s."""
    gain: float
    """Those over the plan's own, less one."""


@dataclass(frozen=True, kw_only=True)
class DynamicContext(Part):
    """A context degree chosen for each micro-batch; null: no effect, or not run."""

    document_tokens_per_s: float
    """Tokens of documents a second; 1/s."""
    gain: float
    """Those over the plan's own, less one."""


@dataclass(frozen=True, kw_only=True)
class Documents(Part):
    """Where the batch has lengths: what documents make of the step."""

    efficiency: float
    """Tokens of documents over those computed, padding included."""
    documents_per_sequence: float
    """In the mean."""
    mean_length: float
    """Tokens of a document."""
    sequence_length: float
    """Tokens of a sequence of the mean micro-batch, padding included."""
    too_long_share: float
    """Documents of the data that are longer than a sequence, a fraction of all."""
    tokens_per_step: float
    """Of documents."""
    document_tokens_per_s: float
    """The same a second; 1/s."""
    even_step_s: float
    """The step, were all micro-batches the mean one; seconds."""
    waits_s: float
    """What unequal micro-batches add to it, expected: step_time_s is the sum; seconds."""
    steps_low_s: float
    """One step of ten is shorter; seconds."""
    steps_high_s: float
    """One step of ten is longer; seconds."""
    gains: list[PackingGain]
    """The same plan with another packing, best first."""
    dynamic_context: DynamicContext | None
    """A context degree chosen for each micro-batch; null: no effect, or not run."""


@dataclass(frozen=True, kw_only=True)
class PredictedStep(Part):
    """What is predicted of one step of a plan."""

    model: Model
    """The model that is trained."""
    step_time_s: float
    """Simulated time of one step, in seconds."""
    low_s: float
    """A measured step is between this and `high_s` four times of five; seconds."""
    high_s: float
    """A measured step is between `low_s` and this four times of five; seconds."""
    price_s: float
    """The same step in closed form, which the search minimises; seconds."""
    lower_bound_s: float
    """No simulated step is faster; seconds."""
    upper_bound_s: float
    """No simulated step is slower; seconds."""
    tokens_per_s: float
    """Tokens of a second, of all devices; seconds."""
    tokens_per_s_per_device: float
    """Tokens of a second and device; 1/s of one device."""
    tflops_per_device: float
    """The model's FLOPs, in 1e12 FLOP/s of one device."""
    peak_flops: float
    """Dense peak of one device in the job's precision, FLOP/s: what MFU refers to."""
    mfu: float
    """Model FLOPs utilisation: the model's FLOPs over the peak, a fraction."""
    unmasked_mfu: float
    """The same without what attention has behind the causal mask."""
    hfu: float
    """Hardware FLOPs utilisation: recomputed FLOPs count too; a fraction."""
    fits: bool
    """Whether it fits in memory with the asked probability."""
    verdict: Literal["fits", "tight", "does_not_fit"]
    """Whether it fits: `fits` with the asked probability or more, `does_not_fit` below its other
    end (0.1 for 0.9), `tight` between."""
    p_fits: float
    """Probability that it fits in memory."""
    peak_memory_bytes: int
    """Of the fullest device, in bytes."""
    capacity_bytes: int
    """Memory of one device, in bytes."""
    reserve_bytes: int
    """Of it kept free for what the account may miss, in bytes."""
    host_memory_bytes: int | None = None
    """What the host of a node holds of offloaded states and activations, in bytes."""
    host_capacity_bytes: int | None = None
    """Memory of the host of a node, in bytes."""
    host_kinds: HostKinds | None = None
    """Of `host_memory_bytes`, which they sum to."""
    critical_stage: int
    """The pipeline stage that the step waits for, from 0."""
    breakdown: Breakdown
    """Where the time of the critical stage goes; sums to the step."""
    losses: list[Loss]
    """What is not the model's FLOPs at the dense peak, largest first; sums to 1 - mfu."""
    stages: list[Stage]
    """Each pipeline stage."""
    frameworks: Frameworks | None = None
    """Where the job names no framework: step times of the plan by the frameworks that run it."""
    notes: list[str]
    """What to know before the figures are trusted, ranked by what it changes."""
    unmeasured_sizes: list[UnmeasuredSize] | None = None
    """Operators whose sizes lie outside of what was measured; absent: none."""
    largest_kind: str | None = None
    """What fills most of the memory where it does not fit."""
    over_by_bytes: int | None = None
    """By how much it does not fit, in bytes."""
    days: float | None = None
    """Days of the steps alone."""
    gpu_hours: float | None = None
    """Hours of the steps alone times GPUs of the cluster, idle ones too."""
    cost: float | None = None
    """Of the steps alone, in the currency of the price."""
    whole_run: RunSummary | None = None
    """The whole run of the tokens that were asked about, beside the steps alone."""
    documents: Documents | None = None
    """Where the batch has lengths: what documents make of the step."""


@dataclass(frozen=True, kw_only=True)
class Remedy(Part):
    """Remedy."""

    kind: Literal[
        "loss_chunks",
        "recompute",
        "micro_batch",
        "host_activations",
        "host_optimizer",
        "host_parameters",
        "optimizer_states",
        "split",
        "nodes",
    ]
    set: list[str]
    """All that it changes, FIELD=VALUE as `predict --set` takes them; first what gives it its
    kind."""
    words: list[str]
    """The same in lines of the framework's files or its own settings."""
    step_time_s: float
    """Seconds."""
    peak_memory_bytes: int
    """Bytes."""
    p_fits: float
    """Probability that it fits in memory."""


@dataclass(frozen=True, kw_only=True)
class MadeBy(Part):
    """Program and constants of the answer; the same two give the same figures."""

    version: str
    """Version of the program."""
    constants: str
    """Hash of the compiled-in figures of devices, clusters, fits and training."""


@dataclass(frozen=True, kw_only=True)
class Prediction(PredictedStep, Answer):
    """stepwright predict --json."""

    table: ClassVar[str] = "stages"
    baseline: PredictedStep | None = None
    """The plan as it is, where a change was asked for."""
    changed: PredictedStep | None = None
    """The changed plan, as the answer itself."""
    difference: dict[str, Any] | None = None
    """Changed less baseline, number by number."""
    remedies: list[Remedy]
    """What lets it fit, each by itself: of each kind the fastest that its framework runs. Empty
    where it fits."""
    made_by: MadeBy
    """Program and constants of the answer; the same two give the same figures."""


@dataclass(frozen=True, kw_only=True)
class TunedPlan(Part):
    """A plan that was simulated."""

    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    step_time_s: float
    """Simulated time of one step, in seconds."""
    low_s: float
    """A measured step is between this and `high_s` four times of five; seconds."""
    high_s: float
    """A measured step is between `low_s` and this four times of five; seconds."""
    tokens_per_s: float
    """Tokens of a second, of all devices; seconds."""
    mfu: float
    """Model FLOPs utilisation: the model's FLOPs over the peak, a fraction."""
    tflops_per_device: float
    """The model's FLOPs, in 1e12 FLOP/s of one device."""
    peak_flops: float
    """Dense peak of one device in the job's precision, FLOP/s: what MFU refers to."""
    price_s: float
    """The same step in closed form; seconds."""
    lower_bound_s: float
    """No simulated step is faster; seconds."""
    upper_bound_s: float
    """No simulated step is slower; seconds."""
    peak_memory_bytes: int
    """Of the fullest device, in bytes."""
    fits: bool
    """Whether it fits in memory with the asked probability."""
    verdict: Literal["fits", "tight", "does_not_fit"]
    """Whether it fits: `fits` with the asked probability or more, `does_not_fit` below its other
    end (0.1 for 0.9), `tight` between."""
    p_fits: float
    """Probability that it fits in memory."""
    tied: bool
    """At most 3 % slower than the best plan: measured, such plans often come in the other order."""
    breakdown: Breakdown
    """Where the time of the critical stage goes; sums to the step."""
    devices_used: int
    """Devices of the cluster that it uses."""
    devices_idle: int
    """Devices of the cluster that stand idle."""
    runs_on: list[str]
    """Frameworks whose files, as `export` writes them, start the plan."""
    lost: str
    """Why the best plan is faster, in words; empty for the best."""
    framework: str | None = None
    """Of the first plan: the framework whose files start it; null: none."""
    export: str | None = None
    """Of the first plan: the command that writes those files; null: none."""
    largest_kind: str | None = None
    """What fills most of the memory where it does not fit."""
    over_by_bytes: int | None = None
    """By how much it does not fit, in bytes."""
    days: float | None = None
    """Days of the steps alone."""
    gpu_hours: float | None = None
    """Hours of the steps alone times GPUs of the cluster, idle ones too."""
    cost: float | None = None
    """Of the steps alone, in the currency of the price."""
    whole_run: RunSummary | None = None
    """The whole run of the tokens that were asked about, beside the steps alone."""
    packing_efficiency: float | None = None
    """Where the batch has lengths: tokens of documents over those computed, padding included."""
    document_tokens_per_s: float | None = None
    """Where the batch has lengths: tokens of documents a second; 1/s."""
    waits_s: float | None = None
    """Where the batch has lengths: what unequal micro-batches add, expected; seconds."""


@dataclass(frozen=True, kw_only=True)
class Alternative(TunedPlan):
    """Alternative."""

    family: str
    """One choice of degrees, kind of schedule, sharding strategy and recomputation."""
    wins: list[str]
    """What it does better than the best plan."""
    loses: list[str]
    """What it does worse than the best plan."""


@dataclass(frozen=True, kw_only=True)
class Unbound(Part):
    """A faster plan that no framework's files start, or null."""

    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    step_time_s: float
    """Simulated time of one step, in seconds."""
    gain_s: float
    """By how much it is faster than the first plan, in seconds."""
    gain: float
    """The same as a fraction of the first plan's time."""
    peak_memory_bytes: int
    """Peak memory of a device; bytes."""
    why: str
    """What the first plan's framework does not run of it."""


@dataclass(frozen=True, kw_only=True)
class Start(Part):
    """Start."""

    framework: str
    attention: str
    """The kernel of attention that the file starts."""
    price_s: float
    """Time of one step there by closed form, in seconds."""
    step_time_s: float
    """Simulated time of one step there, in seconds."""
    fits: bool
    """Whether it fits in memory."""
    verdict: Literal["fits", "tight", "does_not_fit"]
    """Whether it fits: `fits` with the asked probability or more, `does_not_fit` below its other
    end (0.1 for 0.9), `tight` between."""
    changes: str
    """How the plan that it starts differs from the best; empty: it does not."""


@dataclass(frozen=True, kw_only=True)
class Nearest(Part):
    """Nearest."""

    frameworks: list[str]
    plan: Plan | None
    """A plan: docs/formats.md, "Plan"."""
    changes: str | None
    """Changes to the best plan; null: no plan near it runs."""


@dataclass(frozen=True, kw_only=True)
class SearchSpace(Part):
    """How many plans of the space met which fate."""

    total: int
    """Points of the product of all dimensions."""
    legal: int
    """Different legal plans."""
    duplicates: int
    """Legal points that are another point's plan."""
    fitting: int
    """Priced plans that fit in memory."""
    priced: int
    bounded: int
    """Legal, never priced: too slow or too large by a bound."""
    simulated: int


@dataclass(frozen=True, kw_only=True)
class Refusal(Part):
    """Refusal."""

    rule: str
    reason: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Baseline(Part):
    """The usual rule of thumb."""

    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    step_time_s: float
    """Seconds."""
    peak_memory_bytes: int
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class FrontPoint(Part):
    """FrontPoint."""

    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    step_time_s: float
    """Seconds."""
    peak_memory_bytes: int
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class Spares(Part):
    """What the idle devices are worth."""

    nodes: int
    """Idle nodes: so many can fail before the plan must shrink."""
    devices_of_node: int
    """Idle devices in each node in use."""
    step_time_if_used_s: float | None
    """Step time of the best plan that uses all devices; null where none is legal and fits;
    seconds."""
    tokens_per_s_if_used: float | None


@dataclass(frozen=True, kw_only=True)
class Change(Part):
    """Change."""

    set: list[str]
    """Changes as FIELD=VALUE, as `predict --set` takes them."""
    step_time_s: float
    """Seconds."""
    gain_s: float
    """Seconds that it saves; negative where it makes the plan fit."""
    kind: Literal["flag", "layout"]
    """`layout` if degrees or the order of ranks change, else `flag`."""
    peak_memory_bytes: int
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class Against(TunedPlan):
    """The person's own plan, and what to change in it."""

    changes: list[Change]
    """Changes from the person's plan to the best, each on top of those before it."""


@dataclass(frozen=True, kw_only=True)
class SweepPoint(Part):
    """SweepPoint."""

    value: float | str
    refused: str | None = None
    """Why no plan is legal with this value."""
    plan: Plan | None = None
    """A plan: docs/formats.md, "Plan"."""
    fits: bool | None = None
    verdict: Literal["fits", "tight", "does_not_fit"] | None = None
    """Whether it fits: `fits` with the asked probability or more, `does_not_fit` below its other
    end (0.1 for 0.9), `tight` between."""
    step_time_s: float | None = None
    """Seconds."""
    mfu: float | None = None
    """A fraction."""
    days: float | None = None
    """Days."""
    gpu_hours: float | None = None
    """Hours of one GPU, summed."""
    cost: float | None = None


@dataclass(frozen=True, kw_only=True)
class MemoryStep(Part):
    """MemoryStep."""

    capacity_bytes: int
    """Bytes."""
    reserve_share: float
    """Share of the memory that stays free."""
    p_fits: float
    """A probability."""
    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    step_time_s: float
    """Seconds."""
    gain_s: float
    """Seconds against the best plan."""
    peak_memory_bytes: int
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class TwoStrands(Part):
    """A plan near the best with two strands, where it gains a hundredth or more."""

    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    step_time_s: float
    """Seconds."""
    gain_s: float
    """Seconds."""
    peak_memory_bytes: int
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class Tuning(TuningAnswer[TunedPlan]):
    """stepwright tune --json."""

    table: ClassVar[str] = "plans"
    plans: list[TunedPlan]
    """Best first; the first is one that a framework's files start, where any does."""
    alternatives: list[Alternative]
    """The fastest plan of each other family, and what it wins and loses against the best."""
    refusals: list[str]
    """Why the files of each framework start no plan, where none does."""
    remedies: list[Remedy]
    """What lets it fit, each by itself: of each kind the fastest that its framework runs. Empty
    where it fits."""
    unbound: Unbound | None
    """A faster plan that no framework's files start, or null."""
    expert_parallel: dict[str, Any] | None
    """The best plan with expert parallelism where the first has none, or null."""
    starts: list[Start]
    """What each framework's file starts: the best plan or the nearest that it runs."""
    nearest: list[Nearest]
    """For the frameworks that do not run the best plan, the nearest that they run."""
    optimality_gap: float
    """No plan that fits is faster than the best by more than this fraction of its time."""
    space: SearchSpace
    """How many plans of the space met which fate."""
    rejected: list[Refusal]
    """Plans that were refused, by reason."""
    baseline: Baseline | None
    """The usual rule of thumb."""
    speedup_over_baseline: float | None
    """The baseline's time over the best plan's."""
    pareto: list[FrontPoint]
    """The front of time against memory, fastest first."""
    nodes: int
    """In use."""
    spares: Spares | None
    """What the idle devices are worth."""
    target_met: bool
    """False only where a smallest cluster was looked for and none reaches the target."""
    seconds: float
    """Wall clock of the command until its answer is written, in seconds."""
    notes: list[str]
    """What to know before the figures are trusted."""
    against: Against | None = None
    """The person's own plan, and what to change in it."""
    sweep: list[SweepPoint] | None = None
    """The best plan for each value of a field."""
    more_memory: list[MemoryStep]
    """What more risk and more memory would gain."""
    two_strands: TwoStrands | None
    """A plan near the best with two strands, where it gains a hundredth or more."""
    made_by: MadeBy
    """Program and constants of the answer; the same two give the same figures."""


@dataclass(frozen=True, kw_only=True)
class BestPlan(Part):
    """The best plan; null where nothing fits with the asked probability (exit code 1)."""

    id: str | None = None
    """Id of a candidate row; absent: a plan of the search."""
    plan: dict[str, Any] | None = None
    expected_step_s: float
    """Seconds."""
    low_s: float
    """Seconds."""
    high_s: float
    """Seconds."""
    p_fits: float
    """A probability."""
    ran: bool
    """True if its step was measured."""


@dataclass(frozen=True, kw_only=True)
class NextPlan(Part):
    """NextPlan."""

    id: str | None = None
    plan: dict[str, Any] | None = None
    expected_step_s: float
    """Seconds."""
    low_s: float
    """Seconds."""
    high_s: float
    """Seconds."""
    p_fits: float
    """A probability."""
    gain: float
    """Share of the best measured step that measuring it is expected to save, less a hundredth times
    the probability that it does not fit."""


@dataclass(frozen=True, kw_only=True)
class RunCounts(Part):
    """RunCounts."""

    measured: int
    out_of_memory: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class AdvicePrediction(Part):
    """AdvicePrediction."""

    line: int
    id: str
    measured_s: float
    """Seconds."""
    before_s: float
    """Predicted before any run; seconds."""
    now_s: float
    """Predicted with what all runs teach; seconds."""


@dataclass(frozen=True, kw_only=True)
class Learned(Part):
    """Learned."""

    key: str
    of: str
    before: float
    now: float


@dataclass(frozen=True, kw_only=True)
class Contrary(Part):
    """Contrary."""

    key: str
    of: str
    before: float
    now: float


@dataclass(frozen=True, kw_only=True)
class SkippedRow(Part):
    """SkippedRow."""

    line: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Advice(Answer):
    """stepwright tune --runs --json."""

    table: ClassVar[str] = "next"
    best: BestPlan | None
    """The best plan; null where nothing fits with the asked probability (exit code 1)."""
    next: list[NextPlan]
    """Plans whose measurement is worth most, first the most."""
    stop: bool
    """True if no measurement is expected to gain a hundredth."""
    runs: RunCounts
    predictions: list[AdvicePrediction]
    learned: list[Learned]
    """Constants that the runs moved."""
    contrary: list[Contrary]
    """Learned constants that moved steps against what most runs say."""
    skipped: list[SkippedRow]
    """Rows of runs that were not used."""
    skipped_candidates: list[SkippedRow]
    """Rows of candidates that were not used."""


@dataclass(frozen=True, kw_only=True)
class Checkpoints(Part):
    """What they hold, take and how often they are written."""

    bytes: float
    """Parameters and optimizer states, each once."""
    exposed_s: float
    """While no step runs, of one; seconds."""
    hidden_s: float
    """Its write beside steps; seconds."""
    every_steps: int
    """Steps from one to the next."""
    interval_s: float
    """Time of these steps; seconds."""
    best_every_steps: int
    """What makes the run shortest."""
    best_interval_s: float
    """Time of these steps; seconds."""


@dataclass(frozen=True, kw_only=True)
class RunLoss(Part):
    """RunLoss."""

    what: Literal["stragglers", "evaluation", "checkpoints", "restarts", "lost_work", "waiting"]
    """What it goes to; lost work is done again, waiting is for a repair."""
    share: float
    """Of the time of the run."""
    days: float
    """Of the run; days."""
    gpu_hours: float
    """Of all devices that are paid: in use, idle and spare; hours of one GPU, summed."""
    cost: float | None = None
    """Of them, with a price."""


@dataclass(frozen=True, kw_only=True)
class RunTime(Part):
    """A whole run in the mean."""

    tokens: float
    """That are trained on."""
    steps: int
    """Of the run."""
    step_time_s: float
    """As predicted; seconds."""
    devices: int
    """That are paid: in use, idle and spare."""
    spare_nodes: int
    """That stand in for nodes that fail, idle ones of the cluster among them."""
    useful_share: float
    """Steps as predicted over the time of the run."""
    useful_low: float
    """Four times of five it is above this."""
    useful_high: float
    """And below this."""
    days: float
    """Of the run; days."""
    gpu_hours: float
    """Of all devices that are paid: in use, idle and spare; hours of one GPU, summed."""
    cost: float | None = None
    """Of them, with a price."""
    low: RunCost
    """Four times of five the run takes more than this."""
    high: RunCost
    """And less than this."""
    failures: float
    """Of the run, in the mean."""
    failure_every_s: float | None
    """Of all devices in use together; null: none fails; seconds."""
    restart_s: float
    """From a failure to the next step; seconds."""
    best_spare_nodes: int | None = None
    """With the fewest GPU-hours, where repairs take time."""
    checkpoints: Checkpoints
    """What they hold, take and how often they are written."""
    steps_alone: RunCost
    """Steps as predicted, and nothing else."""
    losses: list[RunLoss]
    """Where the rest of the time goes."""
    assumed: list[str]
    """What nobody states, with the source of each."""


@dataclass(frozen=True, kw_only=True)
class SimulatedRuns(Part):
    """With --simulate."""

    runs: int
    """That were played event by event."""
    days: float
    """In the mean; days."""
    error_days: float
    """Standard error of the mean; days."""
    low_days: float
    """A tenth of the runs are shorter; days."""
    high_days: float
    """A tenth of the runs are longer; days."""
    failures: float
    """In the mean."""
    losses_days: dict[str, float]
    """As in losses, in days."""


@dataclass(frozen=True, kw_only=True)
class RunCandidate(RunTime):
    """RunCandidate."""

    code: str
    """The plan in short."""
    nodes: int
    """In use."""
    fastest_step: bool
    """Its step is the shortest of all."""


@dataclass(frozen=True, kw_only=True)
class EndlessRun(Part):
    """A plan none of whose runs would end."""

    code: str
    """The plan in short."""
    nodes: int
    """In use."""
    step_time_s: float
    """As predicted; seconds."""
    why: str
    """What keeps them from their end."""


@dataclass(frozen=True, kw_only=True)
class WholeRun(RunTime, Answer):
    """stepwright run --json."""

    table: ClassVar[str] = "losses"
    fits: bool
    """Whether the plan fits in memory."""
    verdict: Literal["fits", "tight", "does_not_fit"]
    """Whether it fits: `fits` with the asked probability or more, `does_not_fit` below its other
    end (0.1 for 0.9), `tight` between."""
    p_fits: float
    """Probability that it fits in memory."""
    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    simulated: SimulatedRuns | None = None
    """With --simulate."""
    candidates: list[RunCandidate] | None = None
    """Of a job: its plans, the shortest run first."""
    endless: list[EndlessRun] | None = None
    """Of a job: its plans none of whose runs would end."""
    made_by: MadeBy
    """Program and constants of the answer; the same two give the same figures."""


@dataclass(frozen=True, kw_only=True)
class StepTotals(Part):
    """StepTotals."""

    step_time_s: float
    """Of a whole step; seconds."""
    low_s: float
    """80 %: one step of ten is shorter; generation and the weights' way count as exact; seconds."""
    high_s: float
    """80 %: one step of ten is longer; seconds."""
    training_s: float
    """All but generation and the weights' way; seconds."""
    tokens: float
    """A step trains on, once each."""
    tokens_per_s_per_device: float
    """Of all devices; 1/s of one device."""
    devices: int
    """All."""
    training_devices: int
    """That train the policy."""
    generation_devices: int
    """That generate and do not train; 0: those that train do."""


@dataclass(frozen=True, kw_only=True)
class AssumedRange(Part):
    """Range of time_s where nobody has measured it."""

    low_s: float
    """Seconds."""
    high_s: float
    """Seconds."""


@dataclass(frozen=True, kw_only=True)
class StepPhase(Part):
    """StepPhase."""

    phase: Literal[
        "generation",
        "old_log_probabilities",
        "reference",
        "values",
        "update",
        "critic_update",
        "weight_sync",
        "switch",
    ]
    time_s: float
    """Of all updates, of all forwards; seconds."""
    devices: int
    """That work in it."""
    beside: bool
    """On devices of its own."""
    peak_memory_bytes: int | None = None
    """Of generation without its caches; bytes."""
    assumed_range: AssumedRange | None = None
    """Range of time_s where nobody has measured it."""


@dataclass(frozen=True, kw_only=True)
class WeightSync(Part):
    """The weights' way to where sequences are generated."""

    bytes: float
    """Of one copy of what is sent."""
    gather_s: float
    """Among the devices that train; seconds."""
    broadcast_s: float
    """To devices that generate alone; seconds."""


@dataclass(frozen=True, kw_only=True)
class PoolSplit(StepTotals):
    """PoolSplit."""

    generation_s: float
    """As given, on so many devices; seconds."""
    code: str
    """The plan in short."""
    critic_devices: int | None = None
    """That train the critic alone; absent: it is on those of the policy."""


@dataclass(frozen=True, kw_only=True)
class PhasedStep(StepTotals, Answer):
    """stepwright phases --json."""

    table: ClassVar[str] = "phases"
    method: Literal["pretrain", "sft", "dpo", "grpo", "ppo"]
    updates: int
    """On the sequences of a step."""
    fits: bool
    """All phases of the devices that train."""
    verdict: Literal["fits", "tight", "does_not_fit"]
    """Whether it fits: `fits` with the asked probability or more, `does_not_fit` below its other
    end (0.1 for 0.9), `tight` between."""
    p_fits: float
    """Probability that it fits in memory."""
    peak_memory_bytes: int
    """Of a device that trains, over its phases; bytes."""
    capacity_bytes: int
    """Of a device; bytes."""
    phases: list[StepPhase]
    """In their order."""
    generated_tokens: float | None = None
    """Where sequences are generated."""
    dispatch_s: float | None = None
    """Of each phase that trains or takes a forward: one process hands sequences out; seconds."""
    weight_sync: WeightSync | None = None
    """The weights' way to where sequences are generated."""
    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    splits: list[PoolSplit] | None = None
    """Of a job: how its devices may be split, the shortest step first."""
    notes: list[str]
    """For people."""
    made_by: MadeBy
    """Program and constants of the answer; the same two give the same figures."""


@dataclass(frozen=True, kw_only=True)
class Message(Part):
    """Message."""

    operation: str
    scheme: str
    phase: str
    group: str
    group_size: int
    payload_bytes: int
    """The full buffer of one call, in bytes."""
    count: int
    """Calls of all ranks in a step, or of the one that was asked for."""
    sent_bytes_per_rank: float
    """That one rank sends in one call, in bytes."""


@dataclass(frozen=True, kw_only=True)
class SchemeTotal(Part):
    """SchemeTotal."""

    count: int
    payload_bytes: int
    """Bytes."""
    sent_bytes: float
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class SizeClass(Part):
    """SizeClass."""

    at_least_bytes: int
    """Payloads from this power of two to the next; bytes."""
    count: int
    payload_bytes: int
    """Bytes."""
    sent_bytes: float
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class LinkLoad(Part):
    """LinkLoad."""

    name: str
    units: int
    busiest_unit: int
    busiest_bytes: float
    """Bytes."""
    mean_bytes: float
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class LinkLoads(Part):
    """What links and NICs carry in a step."""

    levels: list[LinkLoad]
    """Load of each level of the cluster."""
    nics: LinkLoad
    """Load of the NICs, where there are any."""


@dataclass(frozen=True, kw_only=True)
class ByScheme(Part):
    """ByScheme."""

    calls: int
    payload_bytes: int
    """Bytes."""
    sent_bytes: float
    """Bytes."""


@dataclass(frozen=True, kw_only=True)
class Sweep(Part):
    """Sweep."""

    value: float | str
    refused: str | None = None
    """Why the plan is not legal with this value."""
    by_scheme: dict[str, ByScheme] | None = None
    """Scheme -> calls and bytes of all ranks."""
    sent_bytes_per_token: float | None = None
    step_time_s: float | None = None
    """Seconds."""
    tokens_per_s: float | None = None
    """Seconds."""


@dataclass(frozen=True, kw_only=True)
class Traffic(Answer):
    """stepwright traffic --json."""

    table: ClassVar[str] = "messages"
    ranks: int
    """Devices of the plan."""
    messages: list[Message]
    """Equal calls are one row."""
    totals: dict[str, SchemeTotal]
    """By what is parallel."""
    histogram: list[SizeClass]
    """Calls by the size of their payload."""
    notes: list[str]
    """Remarks, ranked by what they change."""
    rank: int | None = None
    """The rank whose messages these are; absent: all ranks."""
    links: LinkLoads | None = None
    """What links and NICs carry in a step."""
    sweep: list[Sweep] | None = None
    """The plan with each value of a field."""
    made_by: MadeBy
    """Program and constants of the answer; the same two give the same figures."""


@dataclass(frozen=True, kw_only=True)
class MemoryStage(Part):
    """MemoryStage."""

    stage: int
    peak_memory_bytes: int
    """Bytes."""
    kinds: dict[str, int]
    """What fills it; sums to the peak, in bytes."""
    allocated_after_step_bytes: int
    """What PyTorch's allocator counts between two steps, in bytes."""
    allocated_peak_bytes: int
    """What it counts at most, without context and communicators, in bytes."""


@dataclass(frozen=True, kw_only=True)
class UnexplainedBlocks(Part):
    """UnexplainedBlocks."""

    bytes: int
    count: int
    """Blocks."""
    frames: list[str]
    """Innermost first; empty where none were recorded."""


@dataclass(frozen=True, kw_only=True)
class MissingBlocks(Part):
    """MissingBlocks."""

    tensor: str
    bytes: int
    count: int
    """Blocks."""


@dataclass(frozen=True, kw_only=True)
class MatchedBytes(Part):
    """MatchedBytes."""

    size: int
    """Blocks of the same size, in order."""
    layout: int
    """Model states in flat buffers, or in pieces."""
    lifetime: int
    """Blocks from before the recording, as far as states remain."""


@dataclass(frozen=True, kw_only=True)
class FailedAllocation(Part):
    """FailedAllocation."""

    event: int
    bytes: int
    """Asked for."""
    free_bytes: int
    """Of the device; bytes."""


@dataclass(frozen=True, kw_only=True)
class TimelinePoint(Part):
    """TimelinePoint."""

    event: int
    bytes: int
    """In use, the largest until the next point."""


@dataclass(frozen=True, kw_only=True)
class SnapshotRank(Part):
    """SnapshotRank."""

    file: str
    device: int
    """Within the file."""
    rank: int | None
    """Null where nothing says it."""
    stage: int
    """Its pipeline position."""
    peak_bytes: int
    """Most bytes in use at once, as the program asked for them."""
    at_event: int | None
    """The event that reached the peak, from 0; null: it was there before the first."""
    events: int
    """Recorded."""
    predicted_peak_bytes: int
    """The same of the plan; bytes."""
    reserved_bytes: int
    """Of the device, held by the allocator at the peak; bytes."""
    before_bytes: int
    """In use before the first event; bytes."""
    matched_bytes: int
    """Of the peak, what the plan has, too; bytes."""
    matched_by: MatchedBytes
    unexplained: list[UnexplainedBlocks]
    """Blocks that the plan does not have, by the frames that allocated them, largest first."""
    missing: list[MissingBlocks]
    """Blocks of the plan that the run does not have, by name, largest first."""
    failures: list[FailedAllocation]
    """Allocations that failed, the first 100."""
    timeline: list[TimelinePoint]
    """At most 256 points."""


@dataclass(frozen=True, kw_only=True)
class MemorySnapshot(Part):
    """A run's allocator beside the plan: the rank with the largest peak, and `ranks`."""

    file: str
    stage: int
    """Its pipeline position."""
    peak_bytes: int
    """Most bytes in use at once, as the program asked for them."""
    at_event: int | None
    """The event that reached the peak, from 0; null: it was there before the first."""
    predicted_peak_bytes: int
    """The same of the plan; bytes."""
    matched_bytes: int
    """Of the peak, what the plan has, too; bytes."""
    unexplained: list[UnexplainedBlocks]
    """Blocks that the plan does not have, by the frames that allocated them, largest first."""
    missing: list[MissingBlocks]
    """Blocks of the plan that the run does not have, by name, largest first."""
    ranks: list[SnapshotRank]
    """All ranks, in the order of files and devices."""


@dataclass(frozen=True, kw_only=True)
class Memory(Answer):
    """stepwright memory --json."""

    table: ClassVar[str] = "stages"
    peak_memory_bytes: int
    """Of the fullest device, in bytes."""
    stages: list[MemoryStage]
    """Each pipeline stage at its peak."""
    fits: bool
    """Whether it fits in memory with the asked probability."""
    verdict: Literal["fits", "tight", "does_not_fit"]
    """Whether it fits: `fits` with the asked probability or more, `does_not_fit` below its other
    end (0.1 for 0.9), `tight` between."""
    p_fits: float
    """Probability that it fits in memory."""
    capacity_bytes: int
    """Memory of one device, in bytes."""
    reserve_bytes: int
    """Of it kept free for what the account may miss, in bytes."""
    host_memory_bytes: int | None = None
    """What the host of a node holds of offloaded states and activations, in bytes."""
    host_capacity_bytes: int | None = None
    """Memory of the host of a node, in bytes."""
    host_kinds: HostKinds | None = None
    """Of `host_memory_bytes`, which they sum to."""
    snapshot: MemorySnapshot | None = None
    """A run's allocator beside the plan: the rank with the largest peak, and `ranks`."""
    notes: list[str]
    largest_kind: str | None = None
    """What fills most of the memory where it does not fit."""
    over_by_bytes: int | None = None
    """By how much it does not fit, in bytes."""
    made_by: MadeBy
    """Program and constants of the answer; the same two give the same figures."""


@dataclass(frozen=True, kw_only=True)
class Lengths(Answer):
    """stepwright lengths --json."""

    documents: int
    """Documents with at least one token."""
    empty: int
    """Documents without a token, which are left out."""
    tokens: int
    """Of all documents."""
    mean: float
    """Tokens of a document."""
    median: int
    """Tokens that half of the documents do not exceed."""
    p90: int
    """Tokens that nine of ten documents do not exceed."""
    p99: int
    """Tokens that 99 of 100 documents do not exceed."""
    longest: int
    """Tokens of the longest document."""
    file: str | None
    """The file of lengths that was written."""


@dataclass(frozen=True, kw_only=True)
class ErrorsOf(Part):
    """ErrorsOf."""

    used: int
    """Rows that count."""
    median_abs_error: float
    """A fraction."""
    mean_abs_error: float
    """A fraction."""
    p90_abs_error: float
    """A fraction."""
    mean_signed_error: float
    """A fraction."""
    within_10_percent: float
    """Share of errors within 10 %."""


@dataclass(frozen=True, kw_only=True)
class Result(Part):
    """Result."""

    id: str
    predicted: float
    """Seconds, or bytes of memory."""
    measured: float | None
    """Seconds, or bytes of memory."""
    error: float | None
    """Predicted / measured - 1, a fraction."""
    low_s: float | None = None
    """Of runs: the lower end of the interval of 80 %; seconds."""
    high_s: float | None = None
    """Of runs: the upper end of the interval of 80 %; seconds."""
    waiting_share: float | None = None
    """Of runs: the share of the predicted step in which its critical stage waits."""
    unknown_parts: int | None = None
    """Of runs: how many of framework, generation and precision no fitted run shows, 0 to 3."""
    source: str
    device: str
    framework: str | None = None
    scheme: str | None = None
    largest_term: str | None = None
    terms: dict[str, float] | None = None
    notes: list[str]
    operator: str | None = None
    direction: str | None = None
    size: str | None = None
    operation: str | None = None
    layout: str | None = None
    capacity_bytes: float | None = None
    """Bytes."""
    p_fits: float | None = None
    """A probability."""
    group: int | None = None
    """Equal for runs that differ in nothing but the plan."""
    plan: int | None = None
    """Equal for runs of one plan."""


@dataclass(frozen=True, kw_only=True)
class Labels(Part):
    """Labels."""

    right: int
    wrong: int
    clear_right: int
    """Right labels more than 5 % of the capacity away from it."""
    clear_wrong: int
    """Wrong labels more than 5 % of the capacity away from it."""
    fits_called_oom: int
    oom_called_fits: int
    contradictory: list[Any]
    """Pairs of a row that did not fit and a row that did, with the same configuration and no less
    need."""


@dataclass(frozen=True, kw_only=True)
class Choices(Part):
    """Groups of plans for one job: how good the plan is that is predicted fastest."""

    groups: int
    """Groups of one source and setup with at least three plans of the same job."""
    best_chosen: int
    """Groups in which the plan predicted fastest was the fastest."""
    mean_regret: float
    """Regret: measured time of the plan predicted fastest over the measured fastest, less one."""
    median_regret: float
    worst_regret: float
    median_tau: float
    """Kendall's tau-a between predicted and measured order."""


@dataclass(frozen=True, kw_only=True)
class Validation(Answer):
    """stepwright validate --json."""

    table: ClassVar[str] = "results"
    kind: str
    """What the table holds: training_runs, memory, operators, collectives, messages or launches."""
    rows: int
    """Rows of the table."""
    used: int
    """Rows that were predicted."""
    skipped: dict[str, int]
    """Rows that were not, by reason."""
    median_abs_error: float
    """Median of |predicted / measured - 1|, a fraction."""
    mean_abs_error: float
    """Mean of |predicted / measured - 1|, a fraction."""
    p90_abs_error: float
    """What nine of ten rows stay below, a fraction."""
    mean_signed_error: float
    """Mean of predicted / measured - 1, a fraction."""
    within_10_percent: float
    """Share of the rows that are off by less, a fraction."""
    by_source: dict[str, ErrorsOf]
    by_device: dict[str, ErrorsOf]
    by_framework: dict[str, ErrorsOf] | None = None
    by_scheme: dict[str, ErrorsOf] | None = None
    inside_interval: float | None = None
    """Of runs: the share that was measured inside the interval of 80 % of its prediction."""
    results: list[Result]
    """Each row, in file order."""
    labels: Labels | None = None
    choices: Choices | None = None
    """Groups of plans for one job: how good the plan is that is predicted fastest."""
    by_operator: dict[str, ErrorsOf] | None = None
    by_direction: dict[str, ErrorsOf] | None = None
    by_size: dict[str, ErrorsOf] | None = None
    by_operation: dict[str, ErrorsOf] | None = None
    by_layout: dict[str, ErrorsOf] | None = None


@dataclass(frozen=True, kw_only=True)
class Device(Part):
    """Device."""

    name: str
    peak_flops: float
    """FLOP/s."""
    memory_bandwidth_bytes_per_s: float
    """Bytes/s."""
    multiprocessors: int


@dataclass(frozen=True, kw_only=True)
class HeldOut(Part):
    """HeldOut."""

    mean: float
    median: float
    p90: float
    bias: float
    rows: int


@dataclass(frozen=True, kw_only=True)
class Series(Part):
    """Series."""

    mean: float
    median: float
    p90: float
    bias: float
    rows: int


@dataclass(frozen=True, kw_only=True)
class Operator(Part):
    """Operator."""

    class_: str = field(metadata={"key": "class"})
    pass_: str = field(metadata={"key": "pass"})
    chosen: str
    law: dict[str, float]
    range: dict[str, list[float]] | None = None
    rows: int | None = None
    dropped: dict[str, Any] | None = None
    held_out: dict[str, HeldOut] | None = None
    series: dict[str, Series] | None = None
    kernel: str | None = None
    derived: str | None = None
    """From what it follows when nothing was measured."""


@dataclass(frozen=True, kw_only=True)
class Dropped(Part):
    """Dropped."""

    file: str
    line: int
    reason: str
    detail: str | None = None


@dataclass(frozen=True, kw_only=True)
class Unused(Part):
    """Unused."""

    file: str
    name: str
    reason: str
    kernels: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class OperatorFit(Answer):
    """stepwright fit --json."""

    table: ClassVar[str] = "operators"
    stepwright: str
    name: str
    device: Device
    operators: list[Operator]
    sources: list[str]
    dropped: list[Dropped]
    """Rows that were not used."""
    unused: list[Unused] | None = None
    """Of traces: what was not used."""


@dataclass(frozen=True, kw_only=True)
class Range(Part):
    """Range."""

    bytes: list[float]
    ranks: list[float]
    nodes: list[float]


@dataclass(frozen=True, kw_only=True)
class Operation(Part):
    """Operation."""

    fill: float | None = None
    inside_share: float | None = None
    """A fraction."""
    few_ranks: float | None = None
    network_share: float | None = None
    """A fraction."""
    tree_share: float | None = None
    """A fraction."""
    start_us: list[float] | None = None
    """Microseconds."""
    hop: list[float] | None = None
    network_hop: list[float] | None = None
    rate: list[float] | None = None
    belief: list[float] | None = None


@dataclass(frozen=True, kw_only=True)
class Collective(Part):
    """Collective."""

    library: str
    rows: dict[str, int]
    range: dict[str, Range]
    held_out_error: float
    """A fraction."""
    operations: dict[str, Operation]


@dataclass(frozen=True, kw_only=True)
class Profile(Part):
    """Profile."""

    stepwright: str
    name: str
    cluster: str | None = None
    device: str | None = None
    collectives: list[Collective]
    sources: list[str]


@dataclass(frozen=True, kw_only=True)
class CollectiveFit(Answer):
    """stepwright fit collectives --json."""

    table: ClassVar[str] = "profiles"
    profiles: list[Profile]
    dropped: list[Dropped]
    """Rows that were not used."""
    unused: list[Unused] | None = None
    """Of traces: what was not used."""


@dataclass(frozen=True, kw_only=True)
class Shape(Part):
    """Shape."""

    nodes: int
    ranks_of_node: int
    groups_of_node: int
    factors: list[list[float]]


@dataclass(frozen=True, kw_only=True)
class MessageLaw(Part):
    """MessageLaw."""

    library: str
    operation: str
    chunk_bytes: int | None = None
    """Bytes."""
    start_us: float | None = None
    """Microseconds."""
    message_us: float | None = None
    """Microseconds."""
    hop_us: float | None = None
    """Microseconds."""
    network_hop_us: float | None = None
    """Microseconds."""
    inside_bytes_per_s: float | None = None
    """Bytes/s."""
    network_bytes_per_s: float | None = None
    """Bytes/s."""
    own_nics: bool | None = None
    shapes: list[Shape] | None = None
    rows: int
    held_out_error: float
    """A fraction."""


@dataclass(frozen=True, kw_only=True)
class ComputationLaw(Part):
    """ComputationLaw."""

    operator: str
    phase: str
    dtype: str
    start_us: float | None = None
    """Microseconds."""
    flops_per_s: float | None = None
    """Seconds."""
    bytes_per_s: float | None = None
    """Seconds."""
    rows: int
    held_out_error: float
    """A fraction."""


@dataclass(frozen=True, kw_only=True)
class Overlap(Part):
    """Overlap."""

    beside_inside: float | None = None
    beside_network: float | None = None


@dataclass(frozen=True, kw_only=True)
class MeasuredFit(Answer):
    """stepwright fit measured --json."""

    table: ClassVar[str] = "messages"
    stepwright: str
    name: str
    messages: list[MessageLaw] | None = None
    computations: list[ComputationLaw] | None = None
    overlap: Overlap | None = None
    sources: list[str]


@dataclass(frozen=True, kw_only=True)
class Constant(Part):
    """Constant."""

    key: str
    of: str
    """Device or framework of the constant."""
    built_in: float
    calibrated: float


@dataclass(frozen=True, kw_only=True)
class MeanAbsError(Part):
    """MeanAbsError."""

    built_in: float
    """Error with the built-in conditions."""
    fitted: float
    """Error with the fit."""
    held_out: float
    """Error of each run with a fit to all other runs."""


@dataclass(frozen=True, kw_only=True)
class CalibratedRun(Part):
    """CalibratedRun."""

    id: str
    line: int
    measured_s: float
    """Seconds."""
    built_in_error: float
    """A fraction."""
    fitted_error: float
    """A fraction."""
    held_out_error: float
    """A fraction."""
    trust: float
    outlier: str | None = None
    """True if the others miss it by more than 30 %: it does not count."""


@dataclass(frozen=True, kw_only=True)
class Calibration(Answer):
    """stepwright fit runs --json."""

    table: ClassVar[str] = "runs"
    devices: list[str]
    frameworks: list[str]
    moved: str
    """Which constants could move: all, all by half, frameworks, devices or none."""
    constants: list[Constant]
    """Constants before and after."""
    mean_abs_error: MeanAbsError
    """A fraction."""
    runs: list[CalibratedRun]
    skipped: list[SkippedRow]
    """Rows that were not used."""


@dataclass(frozen=True, kw_only=True)
class MemoryFit(Answer):
    """stepwright fit snapshot --json."""

    framework: str
    """Of the plan's job; empty: all others."""
    other_bytes: float
    """In PyTorch's allocator on the fullest rank, beside states and tensors of the plan; bytes."""
    fragmentation: float
    """Reserved at the peak but not in use, as a share of tensors that come and go."""
    snapshot: MemorySnapshot
    """A run's allocator beside the plan: the rank with the largest peak, and `ranks`."""
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class RoutedCalls(Part):
    """RoutedCalls."""

    operation: str
    phase: str
    name: str
    calls: int
    predicted_bytes: float
    """Bytes."""
    bound_bytes: float
    """Mean payload times the job's imbalance; bytes."""
    mean_bytes: float
    """Bytes."""
    largest_bytes: float
    """Bytes."""
    beyond_bound: int
    """Calls above the bound."""


@dataclass(frozen=True, kw_only=True)
class SchemeCalls(Part):
    """SchemeCalls."""

    scheme: str
    operation: str
    group: str
    group_size: int
    predicted_calls: int
    logged_calls: int
    predicted_bytes: int
    """Bytes."""
    logged_bytes: int
    """Bytes."""
    predicted_only: int
    logged_only: int
    time_s: float | None = None
    """Seconds of the timed calls, with the wait for others."""
    transfer_s: float | None = None
    """Shortest of all ranks' times of each call; seconds."""
    predicted_s: float | None = None
    """Of the predicted calls, each by itself; seconds."""
    waiting_s: float | None = None
    """Seconds beyond the transfer."""
    exposed_s: float | None = None
    """Seconds beside no computation."""
    hidden_s: float | None = None
    """Seconds beside computation."""


@dataclass(frozen=True, kw_only=True)
class SizeCalls(Part):
    """SizeCalls."""

    scheme: str
    operation: str
    group: str
    group_size: int
    payload_bytes: int
    """Bytes."""
    predicted_calls: int
    logged_calls: int
    predicted_only: int
    logged_only: int
    mean_transfer_s: float | None = None
    """Seconds."""
    busbw_bytes_per_s: float | None = None
    """Bus bandwidth, as nccl-tests counts it; bytes/s."""


@dataclass(frozen=True, kw_only=True)
class ShortMessages(Part):
    """ShortMessages."""

    operation: str
    group_size: int
    knee_bytes: float
    """Bytes."""
    count: int
    of: int
    payload_bytes: int
    """Bytes."""
    time_s: float
    """Seconds."""


@dataclass(frozen=True, kw_only=True)
class FirstUnexplained(Part):
    """FirstUnexplained."""

    line: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Source(Part):
    """Source."""

    log: int
    format: str
    version: str
    lines: int
    unexplained: int
    first_unexplained: list[FirstUnexplained]
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class Comparison(Answer):
    """stepwright compare --json."""

    table: ClassVar[str] = "by_scheme"
    communicators: int
    """Communicators compared call by call; of a ledger alone."""
    calls: int
    """Predicted calls of all ranks: in all steps of a ledger, else in one step."""
    differences: list[str]
    """Lines, the largest difference first; none: the run sent what the plan says."""
    routed: list[RoutedCalls]
    """Calls of a ledger whose payload is data: routed rows."""
    ranks: int
    """Compared ranks."""
    steps: int
    """Compared steps, of the rank with most."""
    step_time_s: float | None = None
    """Predicted time of a step, in seconds; where the log has marks of steps."""
    logged_step_time_s: float | None = None
    """From one mark of a step to the next in the log, the median; seconds."""
    matched: int
    """Calls that are predicted and logged."""
    predicted_only: int
    """Predicted calls that are not logged, in whole steps of the logged ranks."""
    logged_only: int
    """Logged calls that are not predicted, in whole steps."""
    byte_difference: int
    """Payloads logged less predicted, in bytes."""
    outside_steps: int
    """Calls before and after whole steps."""
    unexplained_lines: int
    """Lines that should be calls and could not be read."""
    remarks: list[str]
    """What was assumed or left out."""
    by_scheme: list[SchemeCalls]
    """Calls by what is parallel and by operation."""
    by_size: list[SizeCalls]
    """The calls of by_scheme by their payload."""
    below_knee: list[ShortMessages]
    """Calls below the knee of their operation."""
    sources: list[Source]
    """One entry for each file."""


@dataclass(frozen=True, kw_only=True)
class Fullest(Part):
    """Where memory runs out first."""

    stage: int
    rank: int
    """The lowest of the stage."""


@dataclass(frozen=True, kw_only=True)
class CheckStage(Part):
    """CheckStage."""

    stage: int
    peak_memory_bytes: int
    """Bytes."""
    kinds: dict[str, int]
    """What fills it; sums to the peak, in bytes."""
    allocated_after_step_bytes: int
    """What PyTorch's allocator counts between two steps, in bytes."""
    allocated_peak_bytes: int
    """What it counts at most, without context and communicators, in bytes."""


@dataclass(frozen=True, kw_only=True)
class Gain(Part):
    """Gain."""

    in_files: list[str]
    """What it sets in words of the imported files; empty: not known."""
    set: list[str]
    """Changes as FIELD=VALUE, as `predict --set` takes them."""
    gain_s: float
    """Seconds that it saves on top of the changes before it."""
    step_time_s: float
    """Seconds."""
    kind: Literal["flag", "layout"]
    """`layout` if degrees or the order of ranks change, else `flag`."""


@dataclass(frozen=True, kw_only=True)
class Read(Part):
    """Read."""

    name: str
    value: str
    file: str
    line: int | None
    """Line of the file; null where a setting has none."""
    field: str
    """What it set in the plan."""


@dataclass(frozen=True, kw_only=True)
class Assumed(Part):
    """Assumed."""

    field: str
    value: str
    why: str


@dataclass(frozen=True, kw_only=True)
class NotRead(Part):
    """NotRead."""

    name: str
    value: str
    file: str
    line: int | None
    """Line of the file; null where a setting has none."""
    matters: Literal["yes", "no", "unknown"]
    """Whether the step depends on it: yes, no or unknown."""
    why: str
    """What a prediction leaves out; may be empty."""


@dataclass(frozen=True, kw_only=True)
class Check(Answer):
    """stepwright check --json."""

    table: ClassVar[str] = "stages"
    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    starts: bool | None
    """False: not legal, or refused by the program; null: nobody knows."""
    fits: bool
    """Whether it fits in memory with the asked probability."""
    verdict: Literal["fits", "tight", "does_not_fit", None]
    """Whether it fits: `fits` with the asked probability or more, `does_not_fit` below its other
    end (0.1 for 0.9), `tight` between. null: it is not legal."""
    p_fits: float | None = None
    """Probability that it fits in memory."""
    host_memory_bytes: int | None = None
    """Of the host of the node with most; bytes."""
    host_capacity_bytes: int | None = None
    """Of such a host; 0: the cluster does not say; bytes."""
    host_kinds: HostKinds | None = None
    """Of `host_memory_bytes`, which they sum to."""
    fullest: Fullest | None = None
    """Where memory runs out first."""
    over_by_bytes: int | None = None
    """Too much, where it does not fit; bytes."""
    step_time_s: float | None = None
    """Seconds."""
    low_s: float | None = None
    """80% interval; seconds."""
    high_s: float | None = None
    """Seconds."""
    stages: list[CheckStage] | None = None
    """Each pipeline stage at its peak."""
    fault: str | None
    """Why it should not be queued; null: it should."""
    gain: float
    """Share of the step that the changes save."""
    gains: list[Gain]
    """From this plan to the best, one change after the other."""
    remedies: list[Remedy]
    """What lets it fit, each by itself: of each kind the fastest that its framework runs. Empty
    where it fits."""
    from_: str = field(metadata={"key": "from"})
    """Whose configuration it is: a word of --from."""
    read: list[Read]
    """Settings that were read, degrees first."""
    assumed: list[Assumed]
    """Fields of the plan that no file says, with the value taken and why."""
    not_read: list[NotRead]
    """Settings that were not read."""
    notes: list[str]
    """Remarks, ranked by what they change."""
    log: dict[str, Any] | None = None
    """With --log: as `compare --json`."""
    made_by: MadeBy
    """Program and constants of the answer; the same two give the same figures."""


@dataclass(frozen=True, kw_only=True)
class DiagnosedFile(Part):
    """DiagnosedFile."""

    path: str
    what: str
    """What the file is, in words."""
    ranks: list[int]
    """Ranks that the file speaks of."""
    steps: int
    """Steps of training whose lines it has."""


@dataclass(frozen=True, kw_only=True)
class FindingPlace(Part):
    """Place in a file that shows it."""

    file: str
    line: int | None = None
    """Line of a log, or number of an entry of a dump, from 1."""
    call: str | None = None
    """The call that does not end."""


@dataclass(frozen=True, kw_only=True)
class ProposedChange(Part):
    """ProposedChange."""

    words: str
    """Change in words of the framework."""
    gain_s: float | None
    """Seconds of a step that it saves, where known."""


@dataclass(frozen=True, kw_only=True)
class Finding(Part):
    """Finding."""

    kind: Literal[
        "hang.mismatch",
        "hang.missing_rank",
        "hang.order",
        "hang.stall",
        "oom",
        "checkpoint",
        "drift",
        "setup",
        "network",
        "device",
        "storage",
        "loss",
        "slow_link",
        "step_time",
        "late_data",
    ]
    """Kind of fault: a hang, memory, loss, network, storage, a slow step and so on."""
    lost_s: float | None
    """Seconds of a step, in the mean."""
    lost_bytes: float | None
    """Bytes that were asked for and not there."""
    ranks: list[int]
    """Ranks where it happened; empty: unknown."""
    where: FindingPlace
    """Place in a file that shows it."""
    what: str
    """One sentence."""
    evidence: list[str]
    """What the files say, each with its place."""
    causes: list[str]
    """Usual causes with a public source, the likeliest first."""
    changes: list[ProposedChange]


@dataclass(frozen=True, kw_only=True)
class PlanOfRun(Part):
    """The plan that was given beside the logs; null: none was."""

    framework: str
    """Empty: the plan names none."""
    step_time_s: float
    """Predicted; seconds."""
    measured_step_time_s: float | None
    """The median of steady steps of the first log that has some; null: none has; seconds."""
    peak_memory_bytes: float
    """Predicted, of the fullest stage; bytes."""
    capacity_bytes: float
    """The device's memory, or the job's limit; bytes."""
    remedies: list[Remedy]
    """What lets it fit, each by itself: of each kind the fastest that its framework runs. Empty
    where it fits."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis(Answer):
    """stepwright diagnose --json."""

    table: ClassVar[str] = "findings"
    files: list[DiagnosedFile]
    findings: list[Finding]
    """What went wrong, the cause of the others first; empty: nothing was found."""
    notes: list[str]
    """What could not be read or is missing, and what would say more."""
    plan: PlanOfRun | None
    """The plan that was given beside the logs; null: none was."""


@dataclass(frozen=True, kw_only=True)
class ImportedPlan(Answer):
    """stepwright import --json."""

    table: ClassVar[str] = "read"
    plan: Plan
    """A plan: docs/formats.md, "Plan"."""
    from_: str = field(metadata={"key": "from"})
    """Whose configuration it is: a word of --from."""
    read: list[Read]
    """Settings that were read, degrees first."""
    assumed: list[Assumed]
    """Fields of the plan that no file says, with the value taken and why."""
    not_read: list[NotRead]
    """Settings that were not read."""
    notes: list[str]
    """Remarks, ranked by what they change."""


@dataclass(frozen=True, kw_only=True)
class CapturedFile(Part):
    """CapturedFile."""

    path: str
    """Path as the command names it, relative to `folder`."""
    exists: bool
    """True if the file existed when the command was reached."""
    text: str | None = None
    """Text of a file that was changed or removed before the script ended."""


@dataclass(frozen=True, kw_only=True)
class CapturedCommand(Part):
    """CapturedCommand."""

    launcher: list[str]
    """Words of programs that were followed, such as srun; may be empty."""
    argv: list[str]
    """The program that trains or its launcher, and its arguments."""
    environment: dict[str, str]
    """Variables that the script changed, and variables that matter for training."""
    folder: str
    """Absolute working directory."""
    nodes: int | None
    """Nodes of the job or its step; null if nothing says."""
    devices_per_node: int | None
    """Devices of a node; null if nothing says."""
    files: list[CapturedFile]
    """Arguments that are files or end like one."""
    scheduler: Literal["slurm", "pbs", "lsf", "sge"] | None = None
    """Scheduler of the batch job; absent if none."""
    batch_options: list[str] | None = None
    """Options of the batch job, as written; absent if none."""
    left_out: list[str] | None = None
    """Names of secrets that were left out; absent if none."""
    count: int | None = None
    """How often the script reached the command; absent if once."""
    hosts: int | None = None
    """Different hosts among these; absent if one."""


@dataclass(frozen=True, kw_only=True)
class LaunchRecord(Answer):
    """stepwright capture --json."""

    table: ClassVar[str] = "commands"
    stepwright: Literal["launch/1"]
    """Version of the record."""
    commands: list[CapturedCommand]
    """Launches that were written down, in the order in which the script reached them."""
    ran: list[str]
    """Launchers that could not be replaced and really ran."""
    not_run: list[str]
    """Other commands that did nothing, quoted for a shell."""
    notes: list[str]
    """What to know about the record."""
    exit_code: int
    """Exit code of the script; 124: time limit, 128 + N: ended by signal N."""
