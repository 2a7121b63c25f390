#!/bin/bash
torchrun --nproc_per_node "${GPUS_PER_NODE:-8}" --nnodes "${NNODES:-1}" primus/cli/main.py \
  train pretrain --config "${EXP:-examples/megatron/exp_pretrain.yaml}" "$@"
