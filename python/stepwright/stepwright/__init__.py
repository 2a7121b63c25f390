"""Plans, predicts and explains the training step of a large language model on many GPUs.

>>> import stepwright
>>> tuning = stepwright.tune("examples/llama-3-70b.yaml")
>>> tuning.best.plan.save("plan.yaml")
>>> stepwright.predict(tuning.best.plan, set={"cluster.nic": "2x"}).step_time_s

Seconds, bytes and fractions everywhere, as the names of fields say.
"""

from . import answers as _answers
from ._planner import version as __version__
from .answer import Answer, Part
from .answers import *  # noqa: F403
from .capturing import capture
from .commands import (
    Progress,
    advise,
    check,
    compare,
    diagnose,
    export,
    fit,
    lengths,
    memory,
    phases,
    predict,
    run,
    sweep,
    traffic,
    tune,
    validate,
)
from .documents import Document, Job, Plan, load
from .errors import InputError, RunError, StepwrightError, UnsupportedError
from .importing import import_
from .nothing_fits import NothingFitsError

__all__ = [
    "Answer",
    "Document",
    "InputError",
    "Job",
    "NothingFitsError",
    "Part",
    "Plan",
    "Progress",
    "RunError",
    "StepwrightError",
    "UnsupportedError",
    "__version__",
    "advise",
    "capture",
    "check",
    "compare",
    "diagnose",
    "export",
    "fit",
    "import_",
    "lengths",
    "load",
    "memory",
    "phases",
    "predict",
    "run",
    "sweep",
    "traffic",
    "tune",
    "validate",
]
__all__ += _answers.__all__
