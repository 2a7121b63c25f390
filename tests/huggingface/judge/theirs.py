"""What transformers says of a configuration: parameters, tensors of files, products of a forward.

Models stand on the device `meta`: no numbers, so the largest take a second.
"""

import copy
import logging
import math
import os
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import torch
import transformers
from scans import SCANS
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, masking_utils
from transformers.core_model_loading import revert_weight_conversion
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
)

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")
# Looks at numbers, which `meta` has none of. No sequence here is packed.
masking_utils.find_packed_sequence_indices = lambda *_: None

CLASSES = dict(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
COMPOSITES = dict(MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES)

# Products with weights: linear layers and convolutions.
WEIGHTS = {torch.ops.aten.mm, torch.ops.aten.addmm, torch.ops.aten.convolution}

# Modules that multiply every token by every expert, of which all but the chosen count for nothing.
WHOLE_EXPERTS = {"Llama4TextExperts"}

Configuration = transformers.PreTrainedConfig
Model = transformers.PreTrainedModel
Shapes = dict[str, list[int]]  # by name


def default_configuration(model_type: str, changes: dict) -> Configuration:
    return transformers.CONFIG_MAPPING[model_type](**changes)


def read_configuration(path: Path) -> Configuration:
    return AutoConfig.from_pretrained(path, local_files_only=True, trust_remote_code=False)


def model_of(configuration: Configuration, device: str = "meta") -> Model:
    """The causal model, with plain attention and every expert's product counted."""
    configuration = copy.deepcopy(configuration)
    configuration._attn_implementation = "eager"
    # Gathers the matrices of each token's own experts: top_k products a token, no more.
    configuration._experts_implementation = "batched_mm"
    with torch.device(device):
        model = getattr(transformers, CLASSES[configuration.model_type])(configuration)
    return model.eval()


def composite_of(configuration: Configuration) -> Model:
    """A model that takes in images, on `meta`."""
    with torch.device("meta"):
        return getattr(transformers, COMPOSITES[configuration.model_type])(configuration)


def parameters_of(model: Model) -> int:
    """Those that are trained. Tables that stand in two places count once."""
    return sum(value.numel() for value in model.parameters() if value.requires_grad)


def kept_numbers_of(model: Model) -> int:
    """Numbers in files that nobody trains: the biases by which routers are balanced."""
    return sum(math.prod(shape) for shape in tensors_of(model)[1].values())


def tensors_of(model: Model) -> tuple[Shapes, Shapes]:
    """What is trained and what is not in files, by their names there. A tied table has one name."""
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    own = {name: value for name, value in model.state_dict().items() if name not in tied}
    trained = {name for name, value in model.named_parameters() if value.requires_grad}
    return (
        in_files(model, {name: own[name] for name in own if name in trained}),
        in_files(model, {name: own[name] for name in own if name not in trained}),
    )


def in_files(model: Model, state: dict[str, torch.Tensor]) -> Shapes:
    """The tensors that `save_pretrained` writes of some of the model's."""
    return {
        name: list(value.shape) for name, value in revert_weight_conversion(model, state).items()
    }


def forward_flops(model: Model, length: int) -> int:
    """Of the products of one sequence, logits at every position. Scores are whole squares: plain
    attention multiplies what the causal mask and the windows take away afterwards. Scans are
    counted as in `scans`."""
    counter = FlopCounterMode(display=False)
    tokens = torch.zeros(1, length, dtype=torch.long, device="meta")
    with torch.no_grad(), counter:
        model(tokens, use_cache=False)
    flops = counter.get_total_flops()
    for name, module in model.named_modules():
        counts = counter.flop_counts.get(f"{type(model).__name__}.{name}", {})
        for child in module.children():
            if isinstance(child, torch.nn.Conv1d):  # Rows behind the last token are taken off.
                behind = child.padding[0]
                convolved = counts.get(torch.ops.aten.convolution, 0)
                flops -= convolved * behind // (length + behind)
        if type(module).__name__ in WHOLE_EXPERTS:
            idle = module.num_experts - model.config.num_experts_per_tok
            flops -= sum(counts.values()) * idle // module.num_experts
        if scan := SCANS.get(type(module).__name__):
            flops += length * scan(module)
            flops -= sum(count for kind, count in counts.items() if kind not in WEIGHTS)
    return flops


def image_flops(configuration: Configuration, patches: int) -> int:
    """Of the encoder for one image.

    Towers that take images of any size ask for values, so that they run for real, without the rest
    of the model.
    """
    vision = configuration.vision_config
    composite = composite_of(configuration).eval()
    counter = FlopCounterMode(display=False)
    if hasattr(vision, "temporal_patch_size"):
        tower = type(composite.model.visual)._from_config(vision, attn_implementation="eager")
        numbers = vision.temporal_patch_size * vision.patch_size**2 * 3
        side = math.isqrt(patches)
        with torch.no_grad(), counter:
            tower(torch.zeros(patches, numbers), grid_thw=torch.tensor([[1, side, side]]))
        return counter.get_total_flops()
    sizes = vision.image_size
    side = sizes if isinstance(sizes, int) else sizes[0]
    given = {"pixel_values": torch.empty(1, 3, side, side, device="meta")}
    if configuration.model_type == "lighton_ocr":
        given["image_sizes"] = torch.tensor([[side, side]])
    with torch.no_grad(), counter:
        composite.model.get_image_features(**given)
    return counter.get_total_flops()
