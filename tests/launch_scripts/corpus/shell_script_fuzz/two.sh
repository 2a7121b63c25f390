export CLUSTER=${CLUSTER:-}
export GB200_CLUSTER=1
export MODEL=${MODEL:-DeepSeek-V3}
export MBS=${MBS:-1}
PR=mxfp8 TP=1 PP=4 EP=64 VPP=4 NNODES=64 GBS=8192 SEGMENT=16 bash inner.sh \
  --recompute-granularity selective --recompute-modules mlp \
  --pipeline-model-parallel-layout "Et*4|(tttt|)*14tmL"
#####
#!/bin/bash
set -euxo pipefail
export WORKSPACE=$(dirname "$(readlink -f "$0")")
source "${WORKSPACE}/runtime_configs/benchmarking/common.conf"
TRAINING_PARAMS=${TRAINING_PARAMS:-""}
if [[ -f ${TRAINING_PARAMS_PATH} ]]; then
    envsubst < ${TRAINING_PARAMS_PATH} > ${TRAINING_PARAMS_PATH}.tmp
else
    echo "Error"; exit 1
fi
TRAINING_PARAMS_FROM_CONFIG=$(yq '... comments="" | .MODEL_ARGS | to_entries | .[] | 
    select(.value != "false") | [.key + " " + .value] | join("")' ${TRAINING_PARAMS_PATH} | tr '\n' ' ')
TRAINING_PARAMS="${TRAINING_PARAMS} ${TRAINING_PARAMS_FROM_CONFIG}"
if [[ $# -gt 0 ]]; then
    TRAINING_PARAMS="${TRAINING_PARAMS} $@"
fi
while IFS='=' read -r KEY VALUE; do
    if [[ -n ${KEY} ]]; then
        export "${KEY}"="${VALUE}"
    fi
done < <(echo "${ENV_VARS}" | tr ' ' '\n')
if [[ ${VPP} -gt 1 ]]; then
    if [[ ! "${TRAINING_PARAMS}" =~ "--pipeline-model-parallel-layout" ]] && \
       [[ ! "${TRAINING_PARAMS}" =~ "--num-virtual-stages-per-pipeline-rank" ]]; then
        TRAINING_PARAMS="${TRAINING_PARAMS} --num-virtual-stages-per-pipeline-rank ${VPP}"
    fi
fi
if [[ ${PR} == "mxfp8" ]]; then
    TRAINING_PARAMS="${TRAINING_PARAMS} --fp8-recipe mxfp8 --fp8-format e4m3"
fi
if [[ ${PROFILE} == "1" ]] || [[ ${PROFILE} == "nsys" ]]; then
    PROFILE_CMD="nsys profile -o x"
else
    PROFILE_CMD=""
fi
export TRAINING_CMD="${PROFILE_CMD} ${BINDPCIE_PATH} python ${TRAINING_SCRIPT_PATH} ${TRAINING_PARAMS}"
mkdir -p ${SLURM_LOGS} || {
    echo "Error: Failed to create SLURM logs directory ${SLURM_LOGS}"
    exit 1
}
set +e
if [[ ${DRY_RUN:-0} -eq 1 ]]; then
    cat <<EOI
#!/bin/bash
srun bash -c \\\${TRAINING_CMD} 2>&1 | tee x
EOI
else
    sbatch ${SBATCH_ARG} <<EOI
#!/bin/bash

#SBATCH --nodes=${NNODES}
#SBATCH --ntasks-per-node=8

export TRITON_CACHE_DIR=${TRITON_CACHE_DIR:-"/tmp/triton_cache_\${SLURM_NODEID}"}

srun \
    --mpi=pmix -l \
    bash -c \\\${TRAINING_CMD} 2>&1 | tee ${SLURM_LOGS}/\${SLURM_JOB_ID}.log
EOI
fi
set -e
