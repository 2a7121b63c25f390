"""FLOPs of scans as the public kernels do them.

The plain PyTorch code of transformers is no measure of these: it repeats the keys of a group for
every head, pads short sequences to a chunk, and solves triangular systems that no counter sees.
"""

from collections.abc import Callable

import torch


def mamba2(mixer: torch.nn.Module) -> float:
    """A token's products in chunks (arXiv 2405.21060, section 6): scores C B^T of a group, values
    by them, the state of a chunk from its keys, and results from the state before it."""
    state = mixer.ssm_state_size
    heads = mixer.num_heads * mixer.head_dim
    return (
        2 * heads * (mixer.chunk_size + 2 * state) + 2 * mixer.n_groups * mixer.chunk_size * state
    )


def mamba(mixer: torch.nn.Module) -> float:
    """Nine operations for an element of the state (state-spaces/mamba, issue 110)."""
    return 9 * mixer.intermediate_size * mixer.ssm_state_size


def delta_net(mixer: torch.nn.Module) -> float:
    """A token's products in chunks of 64 (flash-linear-attention, ops/gated_delta_rule/chunk.py):
    keys by keys, queries by keys, the solved system by keys and by values, values by scores; the
    state by the solved keys, by queries, and what it gains."""
    chunk, state, values = 64, mixer.head_k_dim, mixer.head_v_dim
    inside = 3 * chunk * state + 2 * chunk * values
    return 2 * mixer.num_v_heads * (inside + 3 * state * values)


def channel_delta(mixer: torch.nn.Module) -> float:
    """The same with a decay of its own for each channel of the keys (Kimi delta attention)."""
    chunk, size = 64, mixer.head_dim
    return 2 * mixer.num_heads * (5 * chunk * size + 3 * size * size)


SCANS: dict[str, Callable[[torch.nn.Module], float]] = {
    "Mamba2Mixer": mamba2,
    "BambaMixer": mamba2,
    "GraniteMoeHybridMambaLayer": mamba2,
    "NemotronHMamba2Mixer": mamba2,
    "FalconH1Mixer": mamba2,
    "MambaMixer": mamba,
    "FalconMambaMixer": mamba,
    "JambaMambaMixer": mamba,
    "Qwen3NextGatedDeltaNet": delta_net,
    "Qwen3_5GatedDeltaNet": delta_net,
    "Qwen3_5MoeGatedDeltaNet": delta_net,
    "OlmoHybridGatedDeltaNet": delta_net,
    "KimiLinearDeltaAttention": channel_delta,
    "BailingHybridDeltaAttention": channel_delta,
}
