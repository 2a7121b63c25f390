#!/bin/bash
#SBATCH --job-name=big
#SBATCH --nodes=48
#SBATCH --ntasks-per-node=1          # crucial - only 1 task per dist per node!
#SBATCH --cpus-per-task=64           # number of cores per tasks
#SBATCH --gres=gpu:8                 # number of gpus
set -x -e
source $six_ALL_CCFRWORK/code/start-env
echo "START TIME: $(date)"
cd $REPO
python $LOAD_RATIOS_SCRIPT --dataset-ratios-path $CAT --split train --output-meg-ds-ratio-file $T
MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
GPUS_PER_NODE=8
NNODES=$SLURM_NNODES
TP_SIZE=4
PP_SIZE=12
SEQ_LEN=2048
OPTIMIZER_ARGS=" \
    --optimizer adam \
    --lr 6e-5 \
    "
GPT_ARGS=" \
    --pp-partition-method 'type:transformer|embedding' \
    --num-layers 70 \
    --hidden-size 14336 \
    --num-attention-heads 112 \
    --seq-length $SEQ_LEN \
    --max-position-embeddings $SEQ_LEN \
    --micro-batch-size 2 \
    --rampup-batch-size 192 16 9_765_625 \
    --global-batch-size 2048 \
    --bf16 --vocab-size 250880 \
    $OPTIMIZER_ARGS \
    "
config_json="./ds_config.$SLURM_JOB_ID.json"
cat <<EOT > $config_json
{ "train_micro_batch_size_per_gpu": 2, "zero_optimization": { "stage": 0 } }
EOT
DEEPSPEED_ARGS=" --deepspeed --deepspeed_config ${config_json} "
export LAUNCHER="python -u -m torch.distributed.run \
    --nproc_per_node $GPUS_PER_NODE \
    --nnodes $NNODES \
    --rdzv_endpoint $MASTER_ADDR:$MASTER_PORT \
    "
export CMD=" \
    `pwd`/pretrain_gpt.py \
    --tensor-model-parallel-size $TP_SIZE \
    --pipeline-model-parallel-size $PP_SIZE \
    $GPT_ARGS \
    --data-impl mmap \
     $DEEPSPEED_ARGS \
    "
echo $CMD
export CUDA_LAUNCH_BLOCKING=1
export NCCL_ASYNC_ERROR_HANDLING=1
SRUN_ARGS=" --wait=60 --kill-on-bad-exit=1 "
clear; srun $SRUN_ARGS --jobid $SLURM_JOB_ID bash -c "$LAUNCHER --node_rank \$SLURM_PROCID $CMD" 2>&1 | tee -a $LOGS_PATH/main_log.txt
