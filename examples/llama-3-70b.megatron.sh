#!/bin/bash
# A training script as people have them; what is wrong with it, and what would be better:
#   stepwright import --from megatron examples/llama-3-70b.megatron.sh --cluster dgx-h100 -o mine.yaml
#   stepwright tune examples/llama-3-70b.yaml --against mine.yaml
export CUDA_DEVICE_MAX_CONNECTIONS=1
NODES=${NODES:-8}
MODEL_ARGS=(
    --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672
    --num-attention-heads 64 --group-query-attention --num-query-groups 8
    --seq-length 8192 --max-position-embeddings 8192
    --swiglu --normalization RMSNorm --disable-bias-linear
    --position-embedding-type rope --rotary-base 500000
    --untie-embeddings-and-output-weights
    --attention-dropout 0.0 --hidden-dropout 0.0
    --tokenizer-type HuggingFaceTokenizer --vocab-size 128256
)
PARALLEL_ARGS=(
    --tensor-model-parallel-size 8 --sequence-parallel
    --pipeline-model-parallel-size 8
    --use-distributed-optimizer --overlap-grad-reduce
)
torchrun --nnodes $NODES --nproc-per-node 8 pretrain_gpt.py \
    "${MODEL_ARGS[@]}" "${PARALLEL_ARGS[@]}" \
    --micro-batch-size 1 --global-batch-size 512 --bf16 \
    --recompute-granularity full --recompute-method uniform --recompute-num-layers 1 \
    --lr 1.5e-4 --train-iters 100000
