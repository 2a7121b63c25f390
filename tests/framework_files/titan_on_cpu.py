"""Lets torchtitan run on a CPU: imported before it, since it asks for its device when it is
imported. Attention is not compiled: a CPU has no backward of it and needs no compiler.
"""

import sys

try:
    import torch
    import torch._utils
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
    sys.exit(77)


def uncompiled(function=None, **_):
    """In the place of torch.compile: functions run as they are written."""
    return uncompiled if function is None else function


torch.compile = uncompiled
torch._utils._get_available_device_type = lambda: "cpu"
