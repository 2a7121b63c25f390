"""cmake/StepwrightTorch.cmake takes a PyTorch for CUDA as one for CPUs where the toolkit is absent;
else PyTorch's own files of CMake decide."""

import subprocess
import tempfile
import unittest
from pathlib import Path

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(probe CXX)
include({module})
get_target_property(libraries stepwright_torch INTERFACE_LINK_LIBRARIES)
message(STATUS "links ${{libraries}}")
"""
MODULE = Path(__file__).parents[2] / "cmake/StepwrightTorch.cmake"


class TorchForCuda(unittest.TestCase):
    def links(self, cuda: str, toolkit: bool) -> str:
        """What a program links, with PyTorch's `cuda` of version.py."""
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            config = root / "torch/share/cmake/Torch"
            finder = root / "torch/share/cmake/Caffe2/Modules_CUDA_fix"
            for folder in (config, finder, root / "torch/lib"):
                folder.mkdir(parents=True)
            (root / "torch/version.py").write_text(f"cuda: Optional[str] = {cuda}\n")
            (config / "TorchConfig.cmake").write_text("set(TORCH_LIBRARIES as_torch_says)\n")
            found = f"set(CUDA_FOUND {'ON' if toolkit else 'OFF'})\n"
            (finder / "FindCUDA.cmake").write_text(found)
            (root / "CMakeLists.txt").write_text(PROJECT.format(module=MODULE))
            here = [f"-DTorch_DIR={config}", f"-DSTEPWRIGHT_GLOO_INCLUDE={root}"]
            done = subprocess.run(
                ["cmake", "-S", root, "-B", root / "build", *here],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.split("links ")[1].splitlines()[0].replace(name, "")

    def test_the_toolkit_decides(self):
        cpus = "/torch/lib/libtorch_cpu.so;/torch/lib/libc10.so"
        self.assertEqual(self.links("'13.0'", toolkit=False), cpus)
        self.assertEqual(self.links("'13.0'", toolkit=True), "as_torch_says")
        self.assertEqual(self.links("None", toolkit=False), "as_torch_says")


if __name__ == "__main__":
    unittest.main()
