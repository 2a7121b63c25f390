"""Puts the prose of a table of training runs or of memory into the words of jobs and plans.

    tools/data/row_words.py data/training_runs.csv ...

Sources spell their stacks as they like: "ZeRO-1 over 8 ranks (Hybrid ZeRO)", "256 routed
experts, top-8, MLA", "ub_tp_comm_overlap=true; overlap_p2p_comm=false". Of each row the columns
below are read and others written: `job` and `plan` (mappings in the words of job and plan files,
docs/formats.md), and `no_plan`, why no plan says what the row ran; of runs `flops`, what a source
counts as FLOPs, of memory `peak` and `peak_of`, what was measured and on which rank. A table is
replaced when all of its rows are written; a failure leaves it as it was.
What `stepwright` reads are these and the numbers (degrees, sizes, batch), never the prose. Defaults
of a framework are not written: its file has them.

    framework year source_note gpu gpus gpus_per_node inter_node_net_note setup model moe
    precision sp zero_stage_or_fsdp recompute overlap_notes flop_convention memory_kind
"""

import argparse
import csv
import functools
import re
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced

# The one in C where it is there.
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
PROFILES = Path(__file__).resolve().parents[2] / "stepwright/cluster/profiles"
WRITTEN = {  # columns, and the one of which they are where that is not all of the row
    "job": "",
    "plan": "",
    "no_plan": "",
    "flops": "flop_convention",
    "peak": "memory_kind",
    "peak_of": "memory_kind",
}


class Words:
    """A remark in lower case, for looking for words in it."""

    def __init__(self, text: str):
        self.text = text.strip().lower()

    def has(self, *parts: str) -> bool:
        """Whether any of these stands somewhere in it."""
        return any(part in self.text for part in parts)

    def flag(self, key: str) -> bool | None:
        """What `key=...` says; None without one."""
        found = re.search(re.escape(key) + r"=([^;, ]*)", self.text)
        return found[1] in ("true", "1", "on", "y") if found else None

    def number_after(self, before: str) -> int | None:
        """The first whole number right behind `before`."""
        found = re.search(re.escape(before) + r" *(\d+)", self.text)
        return int(found[1]) if found else None

    def number_before(self, after: str) -> int | None:
        """The whole number right before the first `after`."""
        at = self.text.find(after)
        found = re.search(r"(\d+) *$", self.text[: max(at, 0)])
        return int(found[1]) if found else None


class NoPlanError(Exception):
    """No plan says what a row ran."""


class Row:
    """The cells of a row: words and numbers."""

    def __init__(self, cells: dict[str, str]):
        self.cells = cells

    def text(self, column: str) -> str:
        """A cell as it is written."""
        return (self.cells.get(column) or "").strip()

    def words(self, column: str) -> Words:
        """A cell for looking for words in it."""
        return Words(self.text(column))

    def number(self, column: str) -> int | None:
        """The whole number of a cell; None if the cell is empty or at most zero."""
        text = self.text(column)
        try:
            return int(float(text)) if text and float(text) > 0 else None
        except (ValueError, OverflowError):
            raise NoPlanError(f"{column} '{text}': no number") from None

    def needed(self, column: str) -> int:
        """The whole number of a cell that must have one above zero."""
        if (number := self.number(column)) is None:
            raise NoPlanError(f"{column} not stated")
        return number


# --- frameworks ------------------------------------------------------------------------------

# A word of a row's framework: which framework it stands for, and which variant. The first counts.
FRAMEWORKS = (
    ("scaling (", "megatron-lm", "aleph-alpha"),
    ("automodel", "fsdp", "automodel"),
    ("megatron-bridge", "megatron-core", "bridge"),
    ("nemo", "nemo", ""),
    ("megatron-core", "megatron-core", ""),
    ("zero-3", "deepspeed", ""),
    ("ms-swift/deepspeed", "deepspeed", ""),
    ("megatron-deepspeed", "megatron-deepspeed", ""),
    ("neox", "megatron-deepspeed", ""),
    ("megatron-lm", "megatron-lm", ""),
    ("llm-foundry", "fsdp", "llm-foundry"),
    ("torchtitan", "torchtitan", ""),
    ("fsdp", "fsdp", ""),
    ("internevo", "internevo", ""),
    ("nanotron", "nanotron", ""),
    ("jax", "maxtext", ""),
    ("maxtext", "maxtext", ""),
    ("paxml", "maxtext", ""),
    ("dao-ailab", "fsdp", ""),
    ("meta internal", "torchtitan", "meta-internal"),
    ("colossal", "colossalai", ""),
    # Submissions to MLPerf by the container they ran in.
    ("nvidia", "nemo", ""),
    ("pytorch", "nemo", ""),
    ("ngc", "nemo", ""),
    ("cuda", "nemo", ""),
)
# What sources write before a release ("NeMo container 26.02", "r0.8.0", "MLPerf v4.1").
BEFORE_RELEASE = ("NeMo container", "NeMo", "release", "MLPerf", "r", "v")


# What torchtitan's pyproject.toml said in a year whose runs do not state a release.
TITAN_RELEASES = {2024: "0.0.2", 2025: "0.1"}


def release_in(text: str) -> str:
    """The first release that a text states, such as "26.02" or "4.1.x"."""
    end = 0
    for number in re.finditer(r"\d+", text):
        before, end = text[end : number.start()].rstrip(), number.end()
        minor = re.match(r"\s*(\.\d[.\dx]*)", text[end:])
        if minor and before.endswith(BEFORE_RELEASE):
            return f"{int(number[0])}{minor[1]}"
    return ""


def framework_of(row: Row) -> str | dict | None:
    """`framework` of the job."""
    words = row.words("framework")
    # Megatron-LM's own training loop on Megatron-Core and Transformer Engine, since the middle of
    # 2023 (NVIDIA/Megatron-LM, core_v0.1.0 and later).
    late = (row.number("year") or 0) >= 2023
    if late and words.has("megatron-lm") and not words.has("deepspeed"):
        name, variant = "megatron-core", ""
    else:
        known = ((name, variant) for word, name, variant in FRAMEWORKS if words.has(word))
        name, variant = next(known, ("", ""))
    if not name:
        return None
    version = release_in(row.text("framework")) or release_in(row.text("source_note"))
    if name == "torchtitan" and not variant:
        version = version or TITAN_RELEASES.get(row.number("year"), "")
    parts = {"name": name, "version": version, "variant": variant}
    said = {key: value for key, value in parts.items() if value}
    return name if len(said) == 1 else said


def attention_of(row: Row, notes: Words) -> str | None:
    """The kernel of attention that a row states."""
    if notes.has("kernel=torch", "kernel=fused", "without flashattention", "no flash attention"):
        return "unfused"
    if notes.has("flash_attention2", "flashattention-2", "flash_attention_2"):
        return "flash2"
    if notes.has("flash_attentionv1", "flash attention v1"):
        return "flash1"
    if row.text("framework").startswith("Dao-AILab"):
        return "flash1"
    # Its benchmarks of 2023 and of the H100 ran FlashAttention 1 in Triton (mosaicml/llm-foundry
    # scripts/train/benchmarking/submit_benchmarks.py at 12a63191, --attn_impl).
    if row.words("framework").has("llm-foundry"):
        return "flash1"
    # Megatron models under ZeRO-3, of 2021 and 2022.
    return "unfused" if row.words("framework").has("zero-3") else None


GRAPH_PARTS = ("attn", "mlp", "moe_router")


def graphs_of(notes: Words) -> bool | list[str]:
    """Of a whole iteration or whole layers, or the parts that "cuda_graph_scope=[...]" lists."""
    if notes.flag("mcore_cuda_graph") or notes.flag("layer_cuda_graph"):
        return True
    if notes.has("full_iteration", "full-iteration"):
        return True
    # Submissions to MLPerf source config_common_cg.sh: a whole iteration, or whole layers.
    if re.search(r"(^|; )cuda graph(;|$)", notes.text):
        return True
    scope = re.search(r"cuda_graph_scope=[^\];]*", notes.text)
    if not scope or notes.has("cuda_graph_impl=none"):
        return []
    return [part for part in GRAPH_PARTS if part in scope[0]]


def compiles(row: Row, notes: Words) -> bool:
    """Whether torchtitan compiles the blocks of a row that does not say so: it refuses asynchronous
    tensor parallelism without, and docs/float8.md has float8 with --training.compile alone."""
    titan = row.words("framework").has("torchtitan")
    return titan and (notes.has("async tp") or row.words("precision").has("float8"))


def compiles_loss(row: Row) -> bool:
    """Before 0.1 torchtitan left the loss out, as compiling it failed (train.py, loss_fn)."""
    framework = framework_of(row)
    if not isinstance(framework, dict) or framework.get("name") != "torchtitan":
        return True
    return not framework.get("version", "").startswith("0.0.")


def kernels_of(row: Row) -> dict:
    """`kernels` of the job: those that a row states."""
    notes = row.words("overlap_notes")
    kernels: dict[str, object] = {}
    if attention := attention_of(row, notes):
        kernels["attention"] = attention
    if row.words("framework").has("plain pytorch"):  # the model gives the loss alone
        kernels |= {"gathered_logits": False, "plain_loss": True}
    if notes.has("ce fusion"):
        kernels["fused_cross_entropy"] = True
    if notes.has("torch.compile") or compiles(row, notes):
        kernels |= dict.fromkeys(("fused_norm", "fused_activation"), True)
        if compiles_loss(row):
            kernels["fused_cross_entropy"] = True
    if row.words("source_note").has("fused_rmsnorm"):
        kernels["fused_norm"] = True
    if notes.has("norm kernel="):
        kernels["fused_norm"] = notes.has("rms kernel")
    if notes.has("kernel=torch", "without flashattention"):
        kernels["fused_softmax"] = False
    if notes.has("cuda_launch_blocking=1"):
        kernels["blocking_launches"] = True
    if graphs := graphs_of(notes):
        kernels["cuda_graphs"] = graphs
    if row.words("precision").has("rowwise"):
        kernels["casts"] = "rowwise"
    if row.words("source_note").has("experts loop"):
        kernels["grouped_experts"] = False
    if notes.has("tf32 products"):
        kernels["tf32"] = True
    if notes.flag("fp8_dpa") and precision_of(row) in NARROW:
        kernels["narrow_attention"] = True
    return kernels


# --- models ----------------------------------------------------------------------------------

# A word of a model's name and the built-in model whose switches its family has; the first counts.
# Others have RMSNorm, SwiGLU and rotary positions, as models have that say nothing.
FAMILIES = (
    ("neox", "gpt-neox-20b"),
    ("pythia", "pythia-1.4b"),
    ("bloomberg", "bloom-176b"),
    ("bloom-1", "bloom-176b"),
    ("bloom", "gpt3-175b"),
    ("mpt", "mpt-7b"),
    ("nemotron", "nemotron-4-15b"),
    ("qwen3", "qwen3-8b"),
    ("qwen", "qwen2-7b"),
    ("gpt", "gpt3-175b"),
    ("mt-nlg", "gpt3-175b"),
    ("turing", "gpt3-175b"),
    ("opt-", "gpt3-175b"),
)
# Models whose layers no column tells, and the built-in ones that they are.
NAMED = (
    ("deepseek-ai/deepseek-v3", "deepseek-v3"),
    ("openai/gpt-oss-120b", "gpt-oss-120b"),
    ("qwen/qwen3-235b-a22b", "qwen3-235b-a22b"),
    ("nemotron-h-56b", "nemotron-h-56b"),
    ("nemotron-3-nano", "nemotron-3-nano-30b-a3b"),
    ("nemotron_3_nano", "nemotron-3-nano-30b-a3b"),
    ("nemotron v3 nano 30b", "nemotron-3-nano-30b-a3b"),
)
# Models that none stands for, and why.
UNSAID = (
    ("nemotron-3-super", "experts behind a projection of their own"),
    ("nemotron_3_super", "experts behind a projection of their own"),
    ("nemotron_3_ultra", "experts behind a projection of their own"),
    ("nemotron v3 ultra", "experts behind a projection of their own"),
    ("deepseek-v4", "compressed attention"),
    ("deepseekv4", "compressed attention"),
    ("qwen3.8-27b", "only what stands between an encoder and its decoder is trained"),
)
# What the layers of those have that some plans recompute.
NAMED_MODULES: dict[str, dict] = {
    "deepseek-v3": {"latent": {}, "experts": {"shared_ffn": 2048, "leading_dense": 3}},
    "gpt-oss-120b": {"experts": {"count": 128}},
    "gpt-oss-20b": {"experts": {"count": 32}},
    "qwen3-235b-a22b": {"experts": {"count": 128}},
    "nemotron-h-56b": {},
    "nemotron-3-nano-30b-a3b": {"experts": {"shared_ffn": 3712}},
}
GPT_OSS = {24: "gpt-oss-20b", 36: "gpt-oss-120b"}  # by layers, gpt-oss model card
SIZES = ("layers", "hidden", "heads", "vocab", "seq_len")
WIDE = 5120  # from this width on DeepSeek's models project queries through a rank


def head_dim_of(row: Row, name: Words, moe: Words) -> int:
    """Of queries and keys."""
    if stated := moe.number_after("head_dim"):
        return stated
    if name.has("qwen3"):
        return 128
    return row.number("hidden") // row.number("heads")


def named_model(row: Row) -> str:
    """The built-in model that a row's name stands for; empty where its columns say the sizes."""
    name = row.words("model")
    return next((model for word, model in NAMED if name.has(word)), "")


def experts_of(row: Row, moe: Words) -> dict:
    """ "256 routed experts, top-8, 1 shared, moe_ffn 2048, first 3 layers dense"."""
    count = moe.number_before("routed experts") or moe.number_before("experts")
    top_k = moe.number_after("top-") or moe.number_after("top")
    if not count or not top_k:
        raise NoPlanError("experts not stated")
    ffn = moe.number_after("moe_ffn") or row.number("ffn_hidden")
    if not ffn:
        raise NoPlanError("width of the experts not stated")
    experts: dict[str, object] = {"count": count, "top_k": top_k, "ffn": ffn}
    if shared := moe.number_before("shared"):
        experts["shared_ffn"] = shared * ffn
    if moe.has("shared expert"):  # Qwen2-MoE: one, as wide as all routed experts of a token
        experts |= {"shared_ffn": top_k * ffn, "shared_gate": True}
    leading = moe.number_after("first") or int(moe.has("first layer dense"))
    if leading:
        experts["leading_dense"] = leading
    if moe.has("every 2nd layer"):
        experts["every"] = 2
    return experts


def model_of(row: Row) -> dict:
    """`model` of the job: what the columns of sizes do not say."""
    name, moe = row.words("model"), row.words("moe")
    if name.has("gpt-oss", "gpt oss"):  # biases, sinks and windows, which no column tells
        layers = row.needed("layers")
        if layers not in GPT_OSS:
            raise NoPlanError(f"gpt-oss of {layers} layers: no such model")
        return {"base": GPT_OSS[layers]}
    model: dict[str, object] = {}
    if base := next((base for word, base in FAMILIES if name.has(word)), ""):
        model["base"] = base
    latent = moe.has("mla")
    head_dim = head_dim_of(row, name, moe)
    if latent:
        model["latent"] = {"query_rank": 1536} if row.number("hidden") >= WIDE else {}
        if row.number("kv_heads") not in (None, row.number("heads")):
            model["kv_heads"] = row.number("heads")
    elif base or head_dim * row.number("heads") != row.number("hidden"):
        model["head_dim"] = head_dim
    if moe.text:
        model["experts"] = experts_of(row, moe)
    if name.has("with mtp"):
        model |= {"multi_token_layers": 1, "count_multi_token": True}
    if row.text("framework") == VOCABULARY_FORK:  # tables of their own for input and output
        model["tied"] = False
    return model


# --- clusters --------------------------------------------------------------------------------

# The words of a GPU's name that decide, and the profile it stands for; the first counts.
GPUS = (
    ("gb300", "", "gb300-nvl72"),
    ("gb200", "", "gb200-nvl72"),
    ("b300", "", "dgx-b300"),
    ("b200", "", "dgx-b200"),
    ("gh200", "", "vista-gh200"),
    ("h200", "nvl-", ""),  # a PCIe card
    ("h200", "", "dgx-h200"),
    ("h800", "", "h800-8gpu"),
    ("h100", "pcie", "h100-pcie-8gpu"),
    ("h100", "96gb-hbm2e", "meta-grand-teton-h100"),
    ("h100", "95gb-hbm2e", "meta-grand-teton-h100"),
    ("h100", "", "dgx-h100"),
    ("a800", "", "a800-8gpu"),
    ("a100", "pcie", "a100-pcie-8gpu"),
    ("a100", "40g", "dgx-a100-40g"),
    ("a100", "", "dgx-a100-80g"),
    ("v100", "dgx-2", "v100-dgx2"),
    ("v100", "16g", "v100-dgx1-16g"),
    ("v100", "", "v100-dgx1"),
    ("mi300x", "", "mi300x-8gpu"),
    ("mi325x", "", "mi325x-8gpu"),
    ("mi350x", "", "mi350x-8gpu"),
    ("mi355x", "", "mi355x-8gpu"),
    ("h20", "", "h20-8gpu"),
    ("4090", "", "rtx4090-8gpu-pcie"),
    ("l40s", "", "l40s-8gpu-pcie"),
    ("a40", "", "a40-8gpu-pcie"),
    ("a6000", "", "a6000-8gpu-pcie"),
)
# Clusters that a row's network names, whose public documents say what they are made of.
CLUSTERS = (
    # AWS by the hosts, file system and libfabric settings of the launch script that the runs were
    # started with: `run_multinode.sh` of github.com/huggingface/nanotron at 38fcb8bc.
    ("hugging face science cluster", "h100", "aws-p5-h100"),
    ("(p4d)", "a100", "aws-p4d-a100"),
    # Slingshot joins nodes of four GH200 at CSCS (Alps) alone.
    ("slingshot", "gh200", "alps-gh200"),
)
# States of a network that a profile does not have: GB/s of all-reduces over so many GPUs, medians
# of what runs of that `setup` measured as they began (column `all_reduce_gb_per_s`).
STATES = {"slow network": {16: 328.4, 32: 159.8, 64: 94.7, 128: 50.6, 256: 26.6, 512: 13.2}}


def profile_name(row: Row) -> str:
    """The cluster profile that a row's network or GPU stands for."""
    network, gpu = row.words("inter_node_net_note"), row.words("gpu")
    for word, of, profile in CLUSTERS:
        if network.has(word) and gpu.has(of):
            return profile
    known = (profile for word, also, profile in GPUS if gpu.has(word) and gpu.has(also))
    if profile := next(known, ""):
        return profile
    raise NoPlanError(f"no profile of the GPU: {row.text('gpu')}")


@functools.cache
def profile_of(name: str) -> dict:
    """A profile of `stepwright/cluster/profiles/`, over the one that it names."""
    own = yaml.safe_load((PROFILES / f"{name}.yaml").read_text(encoding="utf-8"))
    return (profile_of(own["profile"]) if "profile" in own else {}) | own


def domain_size(row: Row, profile: dict) -> int:
    """GPUs of one NVLink domain: those of a node as the source counts them, except in racks whose
    domain spans nodes; there the largest part of a rack that fills the job evenly."""
    of_profile = int(profile["devices_per_node"])
    stated = row.number("gpus_per_node") or of_profile
    gpus = row.number("gpus")
    if of_profile > 16:
        for size in range(min(gpus, of_profile), stated, -1):
            if gpus % size == 0 and size % stated == 0:
                return size
    return stated


def numbers_in(text: str) -> list[tuple[int, str]]:
    """The whole numbers of a text that a machine counts to, and what stands behind each."""
    found = ((int(n[0]), text[n.end() :].lstrip()) for n in re.finditer(r"\d+", text))
    return [(number, after) for number, after in found if number < 2**63]


def number_of(text: str, *units: str) -> int | None:
    """The first number that one of the units follows."""
    return next((number for number, after in numbers_in(text) if after.startswith(units)), None)


def counted_nics(text: str, unit: str) -> tuple[int, int] | None:
    """ "8x ConnectX-7 IB NDR 400Gb/s": a count, and in the same phrase the rate of each."""
    for count, after in numbers_in(text):
        if not after.startswith("x"):
            continue
        rate = number_of(re.split(r"[,;:()]", after)[0], unit)
        if rate is not None:
            return count, rate
    return None


def nics_of(note: str, gpus_per_node: int) -> dict:
    """NICs of a node as a note states them: "8x ConnectX-7 IB NDR 400Gb/s", "800 Gb/s per node",
    "400 Gb/s per GPU", "8x50 GB/s", and a bare "200Gb/s" as one NIC of a node. Of several networks
    the one for computation counts."""
    text = note.lower()
    text = text[max(text.find("compute:"), 0) :]
    if nics := counted_nics(note, "GB/s"):
        return {"nics_per_node": nics[0], "nic": f"{nics[1]} GB/s"}
    if nics := counted_nics(text, "g"):
        return {"nics_per_node": nics[0], "nic": f"{nics[1]} Gbit/s"}
    if rate := number_of(text, "gb/s per gpu"):
        return {"nics_per_node": gpus_per_node, "nic": f"{rate} Gbit/s"}
    per_node = ("gbps per node", "gb/s per node", "gbps node-node", "gb/s node-node")
    if rate := number_of(text, *per_node):
        return {"nics_per_node": gpus_per_node, "nic": f"{rate / gpus_per_node:.12g} Gbit/s"}
    known = Words(note).has("infiniband", "roce", "ib ")
    if (rate := number_of(text, "gb/s")) and known:
        return {"nic": f"{rate} Gbit/s"}
    return {}


def domain_nics(row: Row, size: int) -> dict:
    """NICs of a domain of so many GPUs, of a note that counts them by the node, as the source
    counts its GPUs: those of all nodes that the domain spans."""
    stated = min(size, row.number("gpus_per_node") or size)
    nics = nics_of(row.text("inter_node_net_note"), stated)
    if count := nics.get("nics_per_node"):
        nics["nics_per_node"] = count * size // stated
    return nics


def cluster_of(row: Row) -> dict:
    """`cluster` of the job but for the number of devices, a column of its own."""
    name = profile_name(row)
    profile = profile_of(name)
    cluster: dict[str, object] = {"profile": name}
    of_profile, size = int(profile["devices_per_node"]), domain_size(row, profile)
    if size != of_profile:
        if not profile["levels"]:
            raise NoPlanError(f"no profile of nodes with {size} GPUs: {row.text('gpu')}")
        level = profile["levels"][0]
        cluster["devices_per_node"] = size
        cluster["nics_per_node"] = max(1, int(profile["nics_per_node"]) * size // of_profile)
        inside = {"name": level["name"], "size": size, "bandwidth": level["bandwidth"]}
        cluster["levels"] = [inside]
    if limit := re.search(r"limit (\d+) W", row.text("gpu")):
        cluster["board_power"] = int(limit[1])
    return cluster | domain_nics(row, size) | state_of_network(row)


def state_of_network(row: Row) -> dict:
    """What an all-reduce attained in the state of the network that `setup` names."""
    rate = STATES.get(row.text("setup"), {}).get(row.number("gpus"))
    return {"all_reduce": f"{rate} GB/s"} if rate else {}


# --- plans -----------------------------------------------------------------------------------

PRECISIONS = (
    ("nvfp4", ("nvfp4",)),
    ("fp8", ("fp8-cs", "fp8_cs")),
    ("mxfp8", ("mxfp8", "fp8-mx", "fp8_mx")),
    ("fp8", ("fp8", "float8")),
    ("bf16", ("bf16",)),
    ("fp16", ("fp16",)),
    ("fp32", ("tf32", "fp32")),
)
NARROW = ("fp8", "mxfp8", "nvfp4")
STORED = {"fp16": "fp16", "fp32": "fp32"}  # types of parameters; of all other precisions bf16
# Words of Megatron-Core and of articles for modules that have another name in plans.
MODULES = {
    "act": "moe_act",
    "swiglu": "moe_act",
    "layernorm": "norm",
    "rmsnorm": "norm",
    "mla up-proj": "mla_up_proj",
}
MODULE_NAMES = ("core_attn", "mlp", "moe", "moe_act", "norm", "mla_up_proj", "shared_experts")


def precision_of(row: Row) -> str | None:
    """Of matrix products; the narrowest where a row names several. What a note in brackets says
    that a script does not set ("neither --fp16 nor --bf16") is none of them."""
    words = Words(re.sub(r"\([^)]*\bneither\b[^)]*\)", "", row.text("precision")))
    return next((name for name, said in PRECISIONS if words.has(*said)), None)


def held(module: str, model: dict) -> bool:
    """Whether some layer of a model has a module."""
    experts = model.get("experts")
    if module == "mlp":
        return not experts or "leading_dense" in experts or "every" in experts
    if module == "shared_experts":
        return bool(experts) and "shared_ffn" in experts
    if module == "mla_up_proj":
        return "latent" in model
    return module in ("core_attn", "norm") or bool(experts)


def modules_of(text: str) -> list[str] | None:
    """What "selective: layernorm, moe_act" lists; None where it has another word."""
    if not text.startswith("selective") or ":" not in text:
        return None
    listed = [word.strip() for word in text.split(":", 1)[1].split(",")]
    modules = [MODULES.get(word, word) for word in listed]
    return modules if all(module in MODULE_NAMES for module in modules) else None


def recompute_of(row: Row, model: dict) -> str | dict | None:
    """ "full", "none (...)", "selective", "selective: layernorm", "full for 5 layers per stage"."""
    words = row.words("recompute")
    if not words.text:
        return None
    if words.text.startswith("none"):
        return "none"
    if (layers := words.number_after("full for")) is not None:
        stage = row.needed("layers") // (row.number("pp") or 1)
        return {"every": max(1, stage // max(1, layers))}
    if (modules := modules_of(words.text)) is not None:
        kept = [module for module in MODULE_NAMES if module in modules and held(module, model)]
        return {"modules": kept} if kept else "none"
    if words.has("full"):
        return "full"
    if words.text == "selective op":
        return "per-operator"
    if words.text in ("selective layer", "selective: every 2nd layer"):
        return {"every": 2}  # selective_ac_option "2" of torchtitan's train_configs
    if words.text == "selective" or words.has("minimal_flash"):
        return "selective"
    raise NoPlanError(f"recompute '{row.text('recompute')}': no such word")


# The program of 2411.05288, sail-sg/VocabularyParallelism, a fork of Megatron-LM.
VOCABULARY_FORK = "Megatron-LM + vocab parallel"


def redistributed(row: Row) -> list[int]:
    """The layers of positions of which the last also has the head, so that the one with most FLOPs
    has as few as can be (2411.05288, "Redis"); where it is no better than even ones these. The
    positions before the last have one more, as peaks of the first are those of even layers."""
    layers, positions = row.needed("layers"), row.number("pp") or 1
    if positions == 1:
        return [layers]
    hidden, length = row.needed("hidden"), row.needed("seq_len")
    head = 2 * row.needed("vocab") / (24 * hidden + 4 * length)  # in layers

    def most(last: int) -> float:
        return max(-(-(layers - last) // (positions - 1)), last + head)

    even = layers // positions
    last = min(range(even, -1, -1), key=most)
    rest, more = divmod(layers - last, positions - 1)
    return [rest + (i >= positions - 1 - more) for i in range(positions - 1)] + [last]


def listed_layers(row: Row, listed: str) -> list[int] | None:
    """The decoder layers of stages whose lists count the embedding and the head as a layer each
    ("layers_per_stage=7/9/9/9" of 32 layers), or neither of them."""
    layers, stages = row.needed("layers"), [int(count) for count in listed.split("/")]
    if len(stages) != (row.number("pp") or 1) or sum(stages) not in (layers, layers + 2):
        raise NoPlanError(f"layers_per_stage {listed} of a model of {layers} layers")
    if len(stages) == 1:
        return None
    if sum(stages) == layers + 2:
        stages[0] -= 1
        stages[-1] -= 1
    return stages


def layers_of(row: Row) -> list[int] | None:
    """The decoder layers of each chunk that a layout of Megatron-Core lists, t for each of them
    ("layout Et*4|(t*4|)*14tmL"), those of a redistribution or of a list."""
    notes = row.words("overlap_notes")
    if notes.has("layer redistribution"):
        return redistributed(row)
    if listed := re.search(r"layers_per_stage=(\d+(?:/\d+)*)", notes.text):
        return listed_layers(row, listed[1])
    found = re.search(r"layout ([etml*()|\d]+)", notes.text)
    if not found:
        return None
    text = re.sub(r"\(([^()]*)\)\*(\d+)", lambda group: group[1] * int(group[2]), found[1])
    chunks = [re.findall(r"t(?:\*(\d+))?", chunk) for chunk in text.split("|")]
    return [sum(int(count or 1) for count in chunk) for chunk in chunks]


def world_of(row: Row) -> int:
    """Ranks over which states may be spread."""
    return row.number("gpus") // ((row.number("tp") or 1) * (row.number("pp") or 1))


def sharding_group(words: Words, world: int) -> int:
    """Groups that a remark names: "over 8 ranks", "FSDP2 over 64", "FSDP 16", "(group 8)"."""
    for before in ("over", "group", "fsdp "):
        stated = words.number_after(before)
        if stated and stated < world and world % stated == 0:
            return stated
    return world


def sharding_of(row: Row, model: dict) -> str | dict | None:
    """`sharding` of the plan."""
    words = row.words("zero_stage_or_fsdp")
    if not words.text:
        return None
    if words.has("shard_grad_op", "zero-2", "no reshard"):
        states = "NGG"
    elif row.words("framework").has("torchtitan") and (row.number("pp") or 1) > 1:
        # Its apply_fsdp: parameters stay gathered under a pipeline.
        states = "NGG"
    elif words.has("fsdp", "zero-3"):
        states = "GGG"
    elif words.has("zero-1", "distributed optimizer", "dist optimizer", "bf16_optimizer"):
        states = "NNG"
    else:
        return "NNN"
    world = world_of(row) if row.number("gpus") else 0
    group = sharding_group(words, world)
    if group == world:
        return states
    sharding: dict[str, object] = {"states": "III" if states == "GGG" else "NNI", "group": group}
    if "experts" in model:
        of_experts = world * (row.number("tp") or 1) // (row.number("ep") or 1)
        sharding["expert_group"] = min(of_experts, group)
    return sharding


def accumulate_of(row: Row, job: dict) -> str | None:
    """The type in which gradients are reduced, where a row or its lack of a framework says it."""
    words = row.words("zero_stage_or_fsdp")
    stored = STORED.get(job.get("precision", "bf16"), "bf16")
    if words.has("pure"):
        return stored
    if words.has("mixed_precision=default", "fp32 grad", "bf16_optimizer"):
        return "fp32"
    return stored if stored == "fp16" and "framework" not in job else None


def overlap_of(row: Row, job: dict) -> dict:
    """`overlap` of the plan: what a row states, or what is told of a stack that has no file."""
    notes, framework = row.words("overlap_notes"), row.words("framework")
    if notes.has("all overlap off"):
        off = ("gradients", "parameters", "tensor_gradients", "pipeline")
        return dict.fromkeys(off, False)
    overlap: dict[str, bool] = {}
    if "framework" not in job:
        overlap["pipeline"] = False
    if framework.has("zero-3") or notes.has("no dp overlap"):
        overlap |= {"gradients": False, "parameters": False}
    if framework.has("zero-3", "metaseq"):
        overlap["tensor_gradients"] = True
    if notes.has("async p2p"):
        overlap["pipeline"] = True
    said = {
        "gradients": ("overlap_grad_sync",),
        "parameters": ("overlap_param_sync",),
        "pipeline": ("overlap_p2p_comm",),
        "tensor": ("ub_tp_comm_overlap", "tp_comm_overlap"),
        "expert": ("moe_a2a_overlap", "a2a_overlap"),
    }
    for word, keys in said.items():
        stated = [notes.flag(key) for key in keys if notes.flag(key) is not None]
        if stated:
            overlap[word] = stated[0]
    if "tensor" not in overlap and notes.has("tp/dp/pp", "tp-comm-overlap", "async tp", "asynctp"):
        overlap["tensor"] = True
    if "expert" not in overlap and notes.has("ep overlap on", "1f1b overlap", "1f1b ep overlap"):
        overlap["expert"] = True
    return overlap


# What published LoRA runs adapt. MLPerf's benchmark: mlcommons/training llama2_70b_lora/README.md
# (r 16, alpha 32) and scripts/train.py (dropout 0.1 on qkv_proj and o_proj), which NeMo's
# submissions keep; Megatron-Bridge's cards:
# scripts/performance/configs/llama/llama3_llm_finetune.py (linear_qkv alone) over recipes'
# llama3_70b_peft_config (dim 16, alpha 32); NeMo's of 24.07: NeMo-Framework-Launcher
# conf/peft/llama/squad.yaml (adapter_dim 32) under NeMo's default target, attention_qkv; NeMo
# AutoModel: examples/llm_finetune/llama3_3/*_peft_benchmark_2nodes.yaml (match_all_linear, alpha
# 32), whose table tells the rank.
BENCHMARK_ADAPTERS = {"rank": 16, "alpha": 32, "targets": ["qkv", "projection"], "dropout": 0.1}
BRIDGE_ADAPTERS = {"rank": 16, "alpha": 32, "targets": ["qkv"]}
LAUNCHER_ADAPTERS = {"rank": 32, "alpha": 32, "targets": ["qkv"]}


def adapters_of(row: Row) -> dict | None:
    """The adapters of a LoRA run; None where all is trained."""
    if not (row.words("model").has("lora") or row.words("moe").has("lora r")):
        return None
    stack = row.words("framework")
    if row.words("source_note").has("mlperf"):
        return dict(BENCHMARK_ADAPTERS)
    if stack.has("automodel"):
        return {"rank": row.words("model").number_after("lora r"), "alpha": 32, "targets": ["all"]}
    if stack.has("megatron-bridge"):
        return dict(BRIDGE_ADAPTERS)
    if stack.has("nemo"):
        return dict(LAUNCHER_ADAPTERS)
    raise NoPlanError("LoRA: what is adapted is not told")


def job_of(row: Row) -> dict:
    """The job of a row: what its columns of numbers do not say."""
    sized = all(row.number(size) for size in SIZES)
    job: dict[str, object] = {"model": named_model(row) or (model_of(row) if sized else {})}
    if row.number("gpus"):
        job["cluster"] = cluster_of(row)
    job["framework"] = framework_of(row)
    job["precision"] = precision_of(row)
    job["kernels"] = kernels_of(row)
    job["adapters"] = adapters_of(row)
    if row.words("overlap_notes").has("deepep", "hybridep"):
        job["dispatcher"] = "once_per_node"
    return {key: value for key, value in job.items() if value}


def plan_of(row: Row, job: dict) -> dict:
    """The plan of a row: what its columns of numbers do not say."""
    model = job.get("model", {})
    named = model if isinstance(model, str) else model.get("base", "")
    model = NAMED_MODULES.get(named, model)
    plan: dict[str, object] = {}
    if row.text("sp") and (row.number("tp") or 1) > 1:
        plan["sequence_parallel"] = row.text("sp") == "y"
    told = {
        "sharding": sharding_of(row, model),
        "recompute": recompute_of(row, model),
        "accumulate": accumulate_of(row, job),
        "overlap": overlap_of(row, job),
        "layers": layers_of(row),
        "schedule": schedule_of(row),
    }
    return plan | {key: value for key, value in told.items() if value}


def schedule_of(row: Row) -> str:
    """Of positions that share the vocabulary; empty for others."""
    notes = row.words("overlap_notes")
    if notes.has("interlaced pipeline"):
        return "1f1b-vocab"
    kinds = ("vocab-1", "vocab-2")
    return next((kind for kind in kinds if notes.has(f"vocab parallel, {kind}")), "")


def flops_of(row: Row) -> str:
    """What a source counts (`FlopCountingMethod`, validate/rows/metric.h); empty: model FLOPs."""
    words = row.words("flop_convention")
    if words.has("8*p"):
        return "8P"
    if words.has("6*p"):
        return "6P"
    if words.has("hardware", "96b", "incl. recompute", "with recompute", "counts recompute"):
        return "hardware"
    return "causal" if words.has("halved") and not words.has("not causal-halved") else ""


def peak_of(row: Row) -> str:
    """What was measured (`MeasuredMemoryKind`, validate/rows/memory_row.h); empty: not told."""
    words = row.words("memory_kind")
    if words.has("allocated or reserved"):
        return ""
    kinds = {
        "oom": ("oom",),
        "fits": ("fits",),
        "process": ("nvidia-smi",),
        "reserved": ("reserved",),
        "allocated": ("allocated", "peak over devices"),
    }
    return next((kind for kind, said in kinds.items() if words.has(*said)), "")


def refuse(row: Row) -> None:
    """Fails on schedules, layouts, models and tricks of memory that no plan has."""
    notes, name, moe = row.words("overlap_notes"), row.words("model"), row.words("moe")
    if notes.has("dualpipe"):
        raise NoPlanError("DualPipe: no such schedule")
    if notes.has("offload"):
        raise NoPlanError("activations or states off the GPU")
    for word, why in UNSAID:
        if name.has(word):
            raise NoPlanError(why)
    if named_model(row):
        return
    hybrid = moe.has("mamba", "hybrid")
    if hybrid or name.has("mamba", "hybrid", "nemotron-h", "nemotron_h"):
        raise NoPlanError("hybrid of other layers than attention and MLP")


def flow(value: dict) -> str:
    """A mapping on one line, as a cell holds it; empty for an empty one."""
    text = yaml.dump(value, Dumper=DUMPER, default_flow_style=True, sort_keys=False, width=10**6)
    return text.strip() if value else ""


def said(cells: dict[str, str]) -> dict[str, str]:
    """The cells that are written of a row."""
    row = Row(cells)
    least = row.words("memory_kind").has("min over ranks")
    measured = {"flops": flops_of(row), "peak": peak_of(row), "peak_of": "least" if least else ""}
    try:
        refuse(row)
        job = job_of(row)
        return measured | {"job": flow(job), "plan": flow(plan_of(row, job)), "no_plan": ""}
    except NoPlanError as why:
        return measured | {"job": "", "plan": "", "no_plan": str(why)}


def with_words(columns: list[str]) -> list[str]:
    """The columns of a table, and behind them those that are written of it."""
    kept = [name for name in columns if name not in WRITTEN]
    return kept + [name for name, of in WRITTEN.items() if not of or of in kept]


def rewrite(path: Path) -> None:
    """Writes the columns of a table, anew where they are."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        columns = with_words(list(reader.fieldnames or []))
        rows = list(reader)
    with replaced(path, newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | said(row) for row in rows)


def main() -> int:
    """Rewrites the tables that are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", type=Path, nargs="+")
    for path in parser.parse_args().tables:
        rewrite(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
