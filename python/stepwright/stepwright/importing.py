"""`import_`: reads the plan from a framework's files, or from a program's objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .answers import ImportedPlan
from .commands import PlanLike, _CommandLine, _reading_options


def import_(
    *configurations: PlanLike | Any,
    source: str | None = None,
    model: str | None = None,
    cluster: str | None = None,
    batch: str | None = None,
    nodes: int | None = None,
    gpus: int | None = None,
    set: Mapping[str, Any] | None = None,
    function: str | None = None,
    command: int | None = None,
    capture: bool = False,
    gpus_per_node: int | None = None,
    only_launchers: bool = False,
    timeout: float | None = None,
    strict: bool = False,
) -> ImportedPlan:
    """The plan that configurations describe, for `predict` and `tune(against=...)`.

    Args:
        configurations: As of `check`, but no plan.
        source, model, cluster, batch, nodes, gpus, set, function, command, strict: As of `check`.
        capture, gpus_per_node, only_launchers, timeout: As of `check`.

    Raises:
        InputError: The plan is not legal, or something that must be known stands nowhere.
    """
    call = _CommandLine("import", captures=capture)
    words = call.configurations(configurations)
    options = _reading_options(
        configurations,
        source=source,
        model=model,
        cluster=cluster,
        batch=batch,
        nodes=nodes,
        gpus=gpus,
        set=set,
        function=function,
        command=command,
        capture=capture,
        gpus_per_node=gpus_per_node,
        only_launchers=only_launchers,
        timeout=timeout,
        strict=strict,
    )
    call.options(**options)
    call.arguments += ["--", *words]
    return ImportedPlan.from_text(call.answer())
