#!/bin/bash
set -e
ENV=$1
CURRENT_DIR="$( cd "$( dirname "$0" )" && pwd )"
MEGATRON_PATH=$( dirname $( dirname ${CURRENT_DIR}))
export PYTHONPATH=${MEGATRON_PATH}:${MEGATRON_PATH}/X:$PYTHONPATH
export CUDA_DEVICE_MAX_CONNECTIONS=1
if [ -z ${MP_AC_LAYERS} ];then
    MP_AC_LAYERS=1
fi
if [ $ENV = dsw ]; then
    export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7
    MASTER_PORT=$(shuf -n 1 -i 10000-65535)
    NNODES=1
    GPUS_PER_NODE=8
elif [ $ENV = dlc ]; then
    NNODES=${WORLD_SIZE}
    GPUS_PER_NODE=${KUBERNETES_CONTAINER_RESOURCE_GPU}
fi
DISTRIBUTED_ARGS="--nproc_per_node $GPUS_PER_NODE --nnodes $NNODES --master_port $MASTER_PORT"
MODEL_SIZE=$2
BATCH_SIZE=$3
GLOBAL_BATCH_SIZE=$4
SEQ_LEN=$7
PR=${9}
TP=${10}
PP=${11}
SP=${13}
DO=${14}
FL=${15}
AC=${17}
OPTIMIZER_OFFLOAD=${18}
TRAIN_TOKENS=${23}
if [ $FL = true ]; then
    export NVTE_FLASH_ATTN=1 NVTE_FUSED_ATTN=0
elif [ $FL = false ]; then
    export NVTE_FLASH_ATTN=0 NVTE_FUSED_ATTN=1
fi
if [ $MODEL_SIZE = 8B ]; then
NUM_LAYERS=32
HIDDEN_SIZE=4096
gqa_options=" \
		    --group-query-attention \
		    --num-query-groups 8"
elif [ $MODEL_SIZE = 70B ]; then
NUM_LAYERS=80
HIDDEN_SIZE=8192
gqa_options=" --group-query-attention --num-query-groups 8"
fi
TP_COMM_OVERLAP=$(( ($TP > 1) ? 1 : 0 ))
if [ $TP_COMM_OVERLAP -eq 1 ]; then
    comm_overlap_option="\
        --overlap-grad-reduce"
fi
if [ $AC = full ]; then
    _check=$(( ($NUM_LAYERS / $PP) % ${MP_AC_LAYERS} ))
    if [ $_check != 0 ]; then
        echo "the num layers per pp rank must be a multiple of the recompute layers."
        exit -1
    fi
    activation_checkpoint_options=" --recompute-method uniform --recompute-num-layers ${MP_AC_LAYERS} --recompute-granularity full"
elif [ $AC = sel ]; then
    activation_checkpoint_options=" --recompute-activations"
fi
if [ $PR = fp16 ]; then pr_options=" --fp16"
elif [ $PR = bf16 ]; then pr_options=" --bf16"
fi
if [ $OPTIMIZER_OFFLOAD != false ] && [ $DO = false ]; then DO=true; fi
if [ $DO = true ]; then do_options=" --use-distributed-optimizer"; fi
if [ $SP = true ] && [ $TP -gt 1 ]; then sp_options=" --sequence-parallel"; fi
if [ $OPTIMIZER_OFFLOAD = 'static' ]; then offload_option=" --optimizer hybridadam"; else offload_option=""; fi
TRAIN_ITERS=$(( ${TRAIN_TOKENS} / ${GLOBAL_BATCH_SIZE} / ${SEQ_LEN} ))
mkdir -p "a/b"
current_time=$(date "+%Y.%m.%d-%H.%M.%S")
megatron_options="  \
        --train-iters ${TRAIN_ITERS} \
        --micro-batch-size ${BATCH_SIZE} \
        --global-batch-size ${GLOBAL_BATCH_SIZE} \
        --num-layers ${NUM_LAYERS} --hidden-size ${HIDDEN_SIZE} --num-attention-heads 32 \
        --seq-length ${SEQ_LEN} --max-position-embeddings ${SEQ_LEN} \
        --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size ${PP} \
        --swiglu --normalization RMSNorm --vocab-size 128256 --tensorboard-dir x_${current_time} \
        "
run_cmd="torchrun $DISTRIBUTED_ARGS pretrain_llama.py
 ${megatron_options} ${pr_options} ${activation_checkpoint_options} \
 ${do_options} ${sp_options} ${gqa_options} ${offload_option} ${comm_overlap_option}"
echo ${run_cmd}
eval ${run_cmd}
set +x
