"""The process group "stepwright": collectives of PyTorch as proven schedules.

``import stepwright_torch`` registers it; ``init_process_group("stepwright")`` uses it.
"""

import torch
import torch.distributed as dist

from stepwright_torch.settings import Settings

if not dist.is_available():
    raise ImportError("stepwright_torch: this torch is built without torch.distributed")

try:
    from stepwright_torch import _C
except ImportError as error:
    raise ImportError(
        f"stepwright_torch: its library does not load with torch {torch.__version__}; "
        "install it again beside this torch (pip install --force-reinstall): " + str(error)
    ) from error

if _C.built_for != torch.__version__.split("+")[0]:
    raise ImportError(
        f"stepwright_torch was built for torch {_C.built_for}, this is {torch.__version__}; "
        "install it again beside this torch (pip install --force-reinstall)"
    )

from stepwright_torch.group import create_group, report

__all__ = ["Settings", "report"]


def _register() -> None:
    devices = ["cpu"]
    if torch.cuda.is_available() and dist.is_nccl_available():
        devices.append("cuda")
    if "STEPWRIGHT" not in dist.Backend._plugins:
        dist.Backend.register_backend(
            "stepwright", create_group, extended_api=True, devices=devices
        )


_register()
