"""Configurations that differ from a default one in a single key: none may be passed over."""

from collections.abc import Iterator

import theirs

LAYERS = 4
SILENT = {  # of generation and of what a forward returns
    "use_cache",
    "return_dict",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "is_encoder_decoder",
    "add_cross_attention",
    "is_decoder",
}
IDS = ("_token_id", "_size_feed_forward")


def switched(model_type: str, changes: dict) -> Iterator[tuple[str, theirs.Configuration]]:
    """The name of a key, and a model of this type in which it has another value: truths are turned
    round, counts doubled. Where a type can have few layers it has."""
    short = {"num_hidden_layers": LAYERS, **changes}
    base = short if made(model_type, short) else changes
    for key, value in theirs.default_configuration(model_type, base).to_dict().items():
        if key in SILENT or key.startswith("_") or key.endswith(IDS):
            continue
        if isinstance(value, bool):
            other = not value
        elif isinstance(value, int) and value > 0 and key != "num_hidden_layers":
            other = 2 * value
        else:
            continue
        if configuration := made(model_type, {**base, key: other}):
            yield f"{key}: {other}", configuration


def made(model_type: str, changes: dict) -> theirs.Configuration | None:
    """Nothing where transformers allows no such values, which it says in many ways."""
    try:
        return theirs.default_configuration(model_type, changes)
    except Exception:
        return None
