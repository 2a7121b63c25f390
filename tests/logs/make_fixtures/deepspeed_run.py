"""DeepSpeed's communication logger on two CPU ranks: verbose lines and summary on standard output
(rank 0), raw data and the summary as JSON.

    python deepspeed_run.py FOLDER > FOLDER/deepspeed.txt

DeepSpeed 0.19.8 made what tests/logs/data/ keeps.
"""

import json
import os
import sys
from pathlib import Path

import torch
import torch.multiprocessing as mp


def run(rank, folder):
    os.environ.update(
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT="29577",
        RANK=str(rank),
        WORLD_SIZE="2",
        LOCAL_RANK=str(rank),
        DS_ACCELERATOR="cpu",
    )
    import deepspeed
    import deepspeed.comm as dist
    from deepspeed.utils.logging import set_log_level_from_string

    set_log_level_from_string("info")
    dist.init_distributed("gloo")
    dist.configure(enabled=True, prof_all=True, verbose=True, debug=False)
    for _ in range(3):
        dist.all_reduce(torch.ones(1000))
        dist.all_reduce(torch.ones(3))
        dist.all_gather_into_tensor(torch.empty(4096), torch.ones(2048))
        dist.reduce_scatter_tensor(torch.empty(2048), torch.ones(4096))
        dist.broadcast(torch.ones(77), 0)
        dist.barrier()
    if rank == 0:
        from deepspeed.comm.comm import comms_logger

        raw = comms_logger.get_raw_data()
        (folder / "deepspeed.raw.json").write_text(json.dumps(raw))
        summary = comms_logger.log_all(return_dict=True)
        (folder / "deepspeed.summary.json").write_text(json.dumps(summary))
        print(deepspeed.__version__, file=sys.stderr)
    dist.destroy_process_group()


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    mp.spawn(run, args=(folder,), nprocs=2)


if __name__ == "__main__":
    main()
