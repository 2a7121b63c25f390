"""The user's settings, read from environment variables."""

import os
from dataclasses import dataclass, fields

PREFIX = "STEPWRIGHT_TORCH_"


@dataclass(frozen=True)
class Settings:
    """The same on all ranks. Each field is also a variable: ``STEPWRIGHT_TORCH_MIN_BYTES=0``."""

    #: ho-ring, two-level, ring, halving-doubling (2^k ranks) or direct.
    method: str = "ho-ring"
    #: Consecutive global ranks that share a node; 0: as the launcher and the hosts say.
    node_size: int = 0
    #: Collectives whose full buffer is smaller go to the wrapped backend.
    min_bytes: int = 64 << 10
    #: A block (a rank's share of the full buffer) is cut into chunks of at least this, at most 32.
    chunk_bytes: int = 128 << 10
    #: File of choices by size, before `method` (``python -m stepwright_torch.choose``).
    choices: str = ""
    #: An all-reduce of more bytes runs in parts of this size, which bounds its scratch.
    segment_bytes: int = 64 << 20

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in ("node_size", "min_bytes") else 1
            if isinstance(value, int) and value < least:
                raise ValueError(f"{PREFIX}{field.name.upper()}: {value} is below {least}")

    @classmethod
    def from_environment(cls, environment: dict[str, str] | None = None) -> "Settings":
        """The settings that the variables give; the rest as stated above."""
        environment = dict(os.environ) if environment is None else environment
        chosen: dict[str, object] = {}
        for field in fields(cls):
            name = PREFIX + field.name.upper()
            text = environment.get(name)
            if text is None:
                continue
            try:
                chosen[field.name] = int(text) if isinstance(field.default, int) else text
            except ValueError:
                raise ValueError(f"{name}: {text!r} is not a whole number") from None
        return cls(**chosen)
