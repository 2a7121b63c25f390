#!/usr/bin/bash
# pytorch/torchtitan run_train.sh, up to 0.2.2 and after it.
NGPU=${NGPU:-"8"}
CONFIG_FILE=${CONFIG_FILE:-"./torchtitan/models/llama3/train_configs/debug_model.toml"}
TRAIN_FILE=${TRAIN_FILE:-"torchtitan.train"}
MODULE=${MODULE:-"llama3"}
CONFIG=${CONFIG:-""}
if [ -n "${CONFIG}" ]; then
  torchrun --nproc_per_node=${NGPU} -m ${TRAIN_FILE} --module ${MODULE} --config ${CONFIG} "$@"
else
  torchrun --nproc_per_node=${NGPU} -m ${TRAIN_FILE} --job.config_file ${CONFIG_FILE} "$@"
fi
