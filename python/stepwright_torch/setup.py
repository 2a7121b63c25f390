"""Builds the module against the torch of this interpreter, from a checkout of the repository.

Nothing of torch is imported: pip builds in an environment of its own, where it is not, and where
it would otherwise fetch another one.
"""

import importlib.util
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def find_torch() -> Path:
    """The folder of the installed torch, also from within pip's isolated build."""
    spec = importlib.util.find_spec("torch")
    places = [Path(spec.origin).parent] if spec and spec.origin else []
    places += [Path(sysconfig.get_path(name), "torch") for name in ("platlib", "purelib")]
    for place in places:
        if (place / "include/torch/csrc/distributed/c10d/Backend.hpp").is_file():
            return place
    sys.exit(f"stepwright_torch: no torch is installed for {sys.executable}; install it first")


def extension(torch: Path) -> Extension:
    """The module, as two sources."""
    csrc = "csrc"
    return Extension(
        "stepwright_torch._C",
        sources=[f"{csrc}/schedules.cpp", f"{csrc}/unity.cpp"],
        include_dirs=[str(ROOT)],
        define_macros=[("FMT_HEADER_ONLY", "1"), ("TORCH_EXTENSION_NAME", "_C"), ("NDEBUG", "1")],
        extra_compile_args=[
            "-std=c++20",
            "-O3",
            "-g0",
            "-fvisibility=hidden",
            f"-isystem{torch}/include",
            f"-isystem{torch}/include/torch/csrc/api/include",
        ],
        library_dirs=[str(torch / "lib")],
        libraries=["torch_python", "torch_cpu", "torch", "c10"],
        extra_link_args=["-Wl,-rpath,$ORIGIN/../torch/lib"],
        language="c++",
    )


if not (ROOT / "stepwright/transport/schedule_executor.cpp").is_file():
    sys.exit("stepwright_torch: install it from a checkout: pip install ./python/stepwright_torch")
setup(ext_modules=[extension(find_torch())])
