"""The mesh that torchtitan makes of the degrees in a configuration, in each of its releases."""

from typing import Any


def mesh_of(dims: type, given: Any, ranks: int, **more: object) -> Any:
    """Builds the meshes of a ParallelDims; `more`: the words that a release alone has."""
    made = dims(
        dp_replicate=given.data_parallel_replicate_degree,
        dp_shard=given.data_parallel_shard_degree,
        cp=given.context_parallel_degree,
        tp=given.tensor_parallel_degree,
        pp=given.pipeline_parallel_degree,
        ep=given.expert_parallel_degree,
        world_size=ranks,
        **more,
    )
    made.build_mesh()
    return made
