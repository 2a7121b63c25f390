"""Modules in the place of packages that a program imports and whose code no judge needs.

They have every name that is asked of them: a class that is called, decorates and has any member.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence


class _AnyMeta(type):
    def __getattr__(cls, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return _any(name)

    def __getitem__(cls, _of):
        return cls


def _any(name: str) -> type:
    def decorate(_cls, *given, **_named):
        return given[0] if given and isinstance(given[0], type) else _any(name)

    return _AnyMeta(name, (), {"__new__": decorate})


class StandIn(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return _any(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages: Sequence[str]):
        self.packages = tuple(packages)

    def find_spec(self, name: str, _path, _target=None):
        if name.split(".")[0] not in self.packages and name not in self.packages:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = StandIn(spec.name)
        module.__path__ = []
        module.__version__ = "0"
        return module

    def exec_module(self, module):
        pass


def stand_in_for(*packages: str) -> None:
    """Takes the place of the packages that are not installed."""
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
    sys.meta_path.append(_Finder(absent))
