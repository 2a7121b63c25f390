#include "stepwright/launch/deepspeed.h"
#include "stepwright/launch/fsdp.h"
#include "stepwright/launch/megatron.h"
#include "stepwright/launch/target.h"
#include "stepwright/launch/torchtitan.h"

namespace stepwright {
namespace {

constexpr LaunchTarget kTargets[] = {
    {.word = "megatron",
     .framework = "megatron-core",
     .about = "Arguments of Megatron-LM in a script for torchrun",
     .checked = "megatron-core 0.16.1 (configuration classes, rank generator); arguments as of "
                "core 0.4 to 0.20",
     .assumes = "pretrain_gpt.py with Transformer Engine, mock data and no tokenizer until "
                "DATA_ARGS says otherwise",
     .write = write_megatron,
     .read = read_megatron},
    {.word = "deepspeed",
     .framework = "deepspeed",
     .about = "Configuration of DeepSpeed",
     .checked = "deepspeed 0.19.8 (its configuration parser)",
     .assumes = "what stands under the key stepwright is done by the training code",
     .write = write_deepspeed,
     .read = read_deepspeed},
    {.word = "torchtitan",
     .framework = "torchtitan",
     .about = "Configuration of torchtitan",
     .checked =
         "torchtitan 0.2.2 (its JobConfig); the Python form as of August 2026, by source only",
     .assumes = "data, tokenizer and learning rate of the training code's own",
     .write = write_torchtitan,
     .read = read_torchtitan},
    {.word = "fsdp",
     .framework = "fsdp",
     .about = "A program that trains with FSDP2 or DDP over a device mesh",
     .checked = "PyTorch 2.13, transformers 5.23: it trains",
     .assumes = "random tokens until batch_of reads data",
     .write = write_fsdp,
     .read = read_fsdp},
};

}  // namespace

std::span<const LaunchTarget> launch_targets() { return kTargets; }

}  // namespace stepwright
