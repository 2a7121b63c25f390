"""Writes a trace as large as wanted in the form of the PyTorch profiler, for the speed of readers.

    python bench/log_trace.py BYTES > trace.json
    /usr/bin/time -v build/release/stepwright characterize --log trace.json

One event in forty is a collective; the rest are operators, launches and kernels of computation.
"""

import sys


def operator(i, ts):
    return (
        f'  {{\n    "ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4711, "tid": 4711,\n'
        f'    "ts": {ts:.3f}, "dur": 12.345,\n    "args": {{\n      "External id": {i},'
        f'"Record function id": 0, "Concrete Inputs": ["", ""], "Input type": ["c10::BFloat16", '
        f'"c10::BFloat16"], "Input Strides": [[4096, 1], [1, 4096]], "Input Dims": '
        f'[[8192, 4096], [4096, 14336]], "Ev Idx": {i}\n    }}\n  }},\n'
    )


def launch(i, ts):
    return (
        f'  {{\n    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4711, '
        f'"tid": 4711,\n    "ts": {ts:.3f}, "dur": 4.5,\n    "args": {{\n      "External id": {i}, '
        f'"cbid": 211, "correlation": {i}\n    }}\n  }},\n'
    )


def kernel(i, ts):
    return (
        f'  {{\n    "ph": "X", "cat": "kernel", "name": "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_'
        f'tilesize128x256x64_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas", "pid": 0,'
        f' "tid": 7,\n    "ts": {ts:.3f}, "dur": 98.7,\n    "args": {{\n      "External id": {i}, '
        f'"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {i}, '
        f'"registers per thread": 168, "shared memory": 213, "blocks per SM": 1, "warps per SM": '
        f'12, "grid": [132, 1, 1], "block": [384, 1, 1], "est. achieved occupancy %": 19\n'
        f"    }}\n  }},\n"
    )


def message(i, ts, category, name):
    return (
        f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": 0, "tid": 20,\n'
        f'    "ts": {ts:.3f}, "dur": 200.5,\n    "args": {{\n      "External id": {i}, '
        f'"Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, '
        f'"Group size": 8, "dtype": "BFloat16", "Process Group Name": "0", '
        f'"Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]", "correlation": {i}\n    }}\n  }},\n'
    )


def main():
    size = int(float(sys.argv[1]))
    out = sys.stdout
    written = out.write(
        '{\n  "schemaVersion": 1,\n  "distributedInfo": {"backend": "nccl", "rank": 0, '
        '"world_size": 8, "pg_count": 1, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", '
        '"pg_size": 8, "ranks": []}]},\n  "traceEvents": [\n'
    )
    i, ts = 0, 1000.0
    while written < size:
        for _ in range(13):
            i += 1
            ts += 101.5
            written += out.write(operator(i, ts) + launch(i, ts + 1) + kernel(i, ts + 2))
        i += 1
        written += out.write(message(i, ts, "cpu_op", "record_param_comms"))
        written += out.write(
            message(
                i, ts + 5, "kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"
            )
        )
    out.write('  {"name": "Record Window End", "ph": "i", "s": "g", "ts": 1}\n  ]\n}\n')


if __name__ == "__main__":
    main()
