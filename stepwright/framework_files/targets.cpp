#include "stepwright/framework_files/axolotl/axolotl.h"
#include "stepwright/framework_files/bridge/bridge.h"
#include "stepwright/framework_files/fsdp/fsdp.h"
#include "stepwright/framework_files/gpt_neox/gpt_neox.h"
#include "stepwright/framework_files/huggingface/accelerate.h"
#include "stepwright/framework_files/huggingface/arguments.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/deepspeed_script.h"
#include "stepwright/framework_files/launchers/launchers.h"
#include "stepwright/framework_files/llamafactory/llamafactory.h"
#include "stepwright/framework_files/maxtext/maxtext.h"
#include "stepwright/framework_files/megatron/megatron.h"
#include "stepwright/framework_files/megatron/nemo.h"
#include "stepwright/framework_files/nanotron/nanotron.h"
#include "stepwright/framework_files/primus/primus.h"
#include "stepwright/framework_files/primus/script.h"
#include "stepwright/framework_files/rl/nemo_rl.h"
#include "stepwright/framework_files/rl/openrlhf.h"
#include "stepwright/framework_files/rl/verl.h"
#include "stepwright/framework_files/swift/swift.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/framework_files/torchtitan/script.h"
#include "stepwright/framework_files/torchtitan/torchtitan.h"
#include "stepwright/framework_files/torchtune/torchtune.h"

namespace stepwright::framework_files {
namespace {

constexpr LaunchTarget kTargets[] = {
    {.word = "megatron",
     .framework = "megatron-core",
     .about = "Arguments of Megatron-LM in a script for torchrun",
     .checked = "megatron-core 0.16.1 (configuration classes, rank generator); arguments as of "
                "core 0.4 to 0.20",
     .assumes = "pretrain_gpt.py with Transformer Engine, and a few steps on mock data without a "
                "tokenizer until TRAIN_ARGS and DATA_ARGS say otherwise",
     .sets_environment = true,
     .write = write_megatron,
     .read = read_megatron,
     .recognises = is_megatron,
     .starts = starts_megatron_lm},
    {.word = "gpt-neox",
     .framework = "megatron-deepspeed",
     .about = "Configuration of GPT-NeoX",
     .checked = "EleutherAI/gpt-neox of 2025, by source only",
     .assumes = "",
     .read = read_gpt_neox,
     .recognises = is_gpt_neox,
     .starts = starts_gpt_neox},
    {.word = "deepspeed",
     .framework = "deepspeed",
     .about = "Configuration of DeepSpeed",
     .checked = "deepspeed 0.19.8 (its configuration parser)",
     .assumes = "that the training code does what stands under the key stepwright",
     .write = write_deepspeed,
     .read = read_deepspeed,
     .recognises = is_deepspeed,
     .starts = starts_with_deepspeed},
    {.word = "torchtitan",
     .framework = "torchtitan",
     .about = "Configuration of torchtitan",
     .checked = "torchtitan 0.2.2 (its JobConfig) and 0.3.0 (Trainer.Config, models, meshes)",
     .assumes = "a few steps on its small data set until dataloader, tokenizer and optimizer say "
                "otherwise; before 0.3 that the training code brings them",
     .write = write_torchtitan,
     .read = read_torchtitan,
     .recognises = is_torchtitan,
     .starts = starts_torchtitan},
    {.word = "fsdp",
     .framework = "fsdp",
     .about = "A program that trains with FSDP2 or DDP over a device mesh",
     .checked = "PyTorch 2.13, transformers 5.23: it trains",
     .assumes = "random tokens until batch_of reads data",
     .write = write_fsdp,
     .read = read_fsdp,
     .recognises = is_fsdp},
    {.word = "bridge",
     .framework = "nemo",
     .about = "A function of Megatron-Bridge that makes a recipe",
     .checked = "NVIDIA-NeMo/Megatron-Bridge of 2026, by source only",
     .assumes = "",
     .read = read_bridge,
     .recognises = is_bridge},
    {.word = "nemo",
     .framework = "nemo",
     .about = "A recipe of Megatron-Bridge (NeMo)",
     .checked = "fields of the model as those of megatron-core 0.16.1; the recipe's form by source "
                "only",
     .assumes =
         "a few steps on mock data without a tokenizer; train, optimizer, scheduler, dataset and "
         "tokenizer are then yours",
     .write = write_nemo,
     .read = read_nemo,
     .recognises = is_nemo},
    {.word = "accelerate",
     .framework = "accelerate",
     .about = "Configuration of Hugging Face Accelerate",
     .checked = "accelerate 1.15.0 (its configuration reader and ParallelismConfig)",
     .assumes = "that the training code sets batch, micro-batch and optimizer",
     .write = write_accelerate,
     .read = read_accelerate,
     .recognises = is_accelerate},
    {.word = "maxtext",
     .framework = "maxtext",
     .about = "Configuration of MaxText on GPUs, over its base.yml",
     .checked = "maxtext 0.2.5 (keys of its base.yml, by source only)",
     .assumes = "that the command line sets data, tokenizer and output, and that remat_policy "
                "decides what is kept for tensor_input",
     .write = write_maxtext,
     .read = read_maxtext,
     .recognises = is_maxtext,
     .starts = starts_maxtext},
    {.word = "axolotl",
     .framework = "accelerate",
     .about = "Configuration of axolotl",
     .checked = "axolotl 0.19.0 (by source only)",
     .assumes =
         "the model's config.json and weights in the folder base_model, and a few steps on a "
         "small public data set until datasets says otherwise",
     .variant = "axolotl",
     .write = write_axolotl,
     .read = read_axolotl,
     .recognises = is_axolotl,
     .starts = starts_axolotl},
    {.word = "llama-factory",
     .framework = "accelerate",
     .about = "Configuration of LLaMA-Factory",
     .checked = "llamafactory 0.9.5 (by source only)",
     .assumes = "the model's config.json and weights in the folder model_name_or_path, and a few "
                "steps on its own c4_demo until dataset says otherwise",
     .variant = "llama-factory",
     .write = write_llamafactory,
     .read = read_llamafactory,
     .recognises = is_llamafactory,
     .starts = starts_llamafactory},
    {.word = "ms-swift",
     .framework = "megatron-core",
     .about = "Scripts and configurations of ms-swift",
     .checked = "ms-swift 4.6.0 (by source only)",
     .assumes =
         "the model's config.json and weights in the folder of --model, and a few steps on a "
         "public data set until TRAIN_ARGS and DATA_ARGS say otherwise",
     .sets_environment = true,
     .variant = "ms-swift",
     .write = write_swift,
     .read = read_swift,
     .recognises = is_swift,
     .starts = starts_swift},
    {.word = "torchtune",
     .framework = "fsdp",
     .about = "Configuration of torchtune",
     .checked = "torchtune 0.6.1 (models that its files build; recipes by source only)",
     .assumes =
         "the model's weights and tokenizer in the folder checkpoint_dir, my_model.build where "
         "torchtune has no builder of the model, and a few steps on a small public data set "
         "until dataset says otherwise",
     .variant = "torchtune",
     .write = write_torchtune,
     .read = read_torchtune,
     .recognises = is_torchtune,
     .starts = starts_torchtune},
    {.word = "hf",
     .framework = "accelerate",
     .about = "Configurations of transformers: config.json and TrainingArguments",
     .checked = "transformers 5.23",
     .assumes = "",
     .read = read_huggingface,
     .recognises = is_huggingface,
     .starts = starts_trainer},
    {.word = "primus",
     .framework = "megatron-core",
     .about = "Configuration of AMD's Primus, or a script that starts it",
     .checked = "AMD-AGI/Primus of 2026, by source only",
     .assumes = "",
     .read = read_primus,
     .recognises = is_primus,
     .starts = starts_primus},
    {.word = "nemo-rl",
     .framework = "megatron-core",
     .about = "Configuration of NeMo-RL",
     .checked = "NVIDIA-NeMo/RL of 2026, by source only",
     .assumes = "the model's config.json and weights in the folder model_name, and a few steps of "
                "supervised training on squad until data says otherwise",
     .variant = "nemo-rl",
     .write = write_nemo_rl,
     .read = read_nemo_rl,
     .recognises = is_nemo_rl,
     .starts = starts_nemo_rl},
    {.word = "verl",
     .framework = "fsdp",
     .about = "Configuration of verl, or a script that starts it",
     .checked = "volcengine/verl of 2026, by source only",
     .assumes = "",
     .read = read_verl,
     .recognises = is_verl,
     .starts = starts_verl},
    {.word = "openrlhf",
     .framework = "deepspeed",
     .about = "A script that starts a trainer of OpenRLHF",
     .checked = "OpenRLHF/OpenRLHF of 2026, by source only",
     .assumes = "",
     .read = read_openrlhf,
     .recognises = is_openrlhf,
     .starts = starts_openrlhf},
    {.word = "nanotron",
     .framework = "nanotron",
     .about = "Configuration of nanotron",
     .checked = "huggingface/nanotron@19f88fbe, by source only",
     .assumes = "",
     .read = read_nanotron,
     .recognises = is_nanotron,
     .starts = starts_nanotron},
    {.word = "torchrun",
     .framework = "",
     .about = "A script that starts a command as all ranks, with torchrun",
     .checked = "PyTorch 2.13 (its options)",
     .assumes = "that the script runs on every node, and that NODE_RANK says on which",
     .sets_environment = true,
     .write = write_torchrun},
    {.word = "slurm",
     .framework = "",
     .about = "A batch script of Slurm that starts a command as all ranks, with torchrun",
     .checked = "bash (syntax)",
     .assumes = "that nodes are in block distribution, and torchrun in PATH",
     .sets_environment = true,
     .write = write_slurm},
    {.word = "mpirun",
     .framework = "",
     .about = "A script that starts a command as all ranks, with Open MPI's mpirun",
     .checked = "bash (syntax)",
     .assumes = "Open MPI, and that MASTER_ADDR is the first host of HOSTFILE",
     .sets_environment = true,
     .write = write_mpirun},
};

}  // namespace

std::span<const LaunchTarget> launch_targets() { return kTargets; }

}  // namespace stepwright::framework_files
