#include <algorithm>
#include <iterator>
#include <vector>

#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/trainer_program.h"
#include "stepwright/framework_files/megatron/stated.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

/// The functions of each target, in the order in which targets are listed.
constexpr LaunchTarget kTargets[] = {
    {.word = "megatron",
     .write = write_megatron,
     .read = read_megatron,
     .recognises = file_logs_megatron_arguments},
    {.word = "gpt-neox", .read = read_gpt_neox},
    {.word = "deepspeed",
     .write = write_deepspeed,
     .read = read_deepspeed,
     .recognises = is_deepspeed,
     .starts = starts_with_deepspeed},
    {.word = "torchtitan",
     .write = write_torchtitan,
     .read = read_torchtitan,
     .lacks = torchtitan_lacks},
    {.word = "fsdp", .write = write_fsdp, .read = read_fsdp},
    {.word = "bridge", .read = read_bridge},
    {.word = "nemo1", .read = read_nemo1},
    {.word = "nemo", .write = write_nemo, .read = read_nemo},
    {.word = "accelerate", .write = write_accelerate, .read = read_accelerate},
    {.word = "maxtext", .write = write_maxtext, .read = read_maxtext},
    {.word = "axolotl", .write = write_axolotl, .read = read_axolotl, .starts = starts_axolotl},
    {.word = "llama-factory",
     .write = write_llamafactory,
     .read = read_llamafactory,
     .starts = starts_llamafactory},
    {.word = "ms-swift", .write = write_swift, .read = read_swift},
    {.word = "torchtune",
     .write = write_torchtune,
     .read = read_torchtune,
     .lacks = torchtune_lacks},
    {.word = "hf",
     .read = read_huggingface,
     .recognises = is_trainer_program,
     .starts = starts_trainer},
    {.word = "trl", .write = write_trl, .read = read_huggingface},
    {.word = "primus", .read = read_primus},
    {.word = "nemo-rl", .write = write_nemo_rl, .read = read_nemo_rl},
    {.word = "verl", .write = write_verl, .read = read_verl},
    {.word = "openrlhf", .write = write_openrlhf, .read = read_openrlhf, .starts = starts_openrlhf},
    {.word = "nanotron", .read = read_nanotron},
    {.word = "torchrun", .write = write_torchrun},
    {.word = "slurm", .write = write_slurm},
    {.word = "mpirun", .write = write_mpirun},
};

std::vector<LaunchTarget> with_data() {
  std::vector<LaunchTarget> targets(std::begin(kTargets), std::end(kTargets));
  for (LaunchTarget& target : targets) {
    target.data = &launch_target_description(target.word);
    target.framework = target.data->framework;
    target.variant = target.data->variant;
  }
  return targets;
}

}  // namespace

std::span<const LaunchTarget> launch_targets() {
  static const std::vector<LaunchTarget> kAll = with_data();
  return kAll;
}

bool can_framework_run_target(const LaunchTarget& target, std::string_view framework) {
  return target.framework.empty() || target.framework == framework ||
         std::ranges::find(target.data->also, framework) != target.data->also.end();
}

namespace {

/// True if a target can have files with this name; `.toml` is accepted only for targets that write
/// TOML.
bool may_be_named(const LaunchTarget& target, const SourceFile& file) {
  return !file.name.ends_with(".toml") ||
         std::ranges::any_of(target.data->endings,
                             [](const auto& ending) { return ending.first == "toml"; });
}

}  // namespace

bool is_target_file(const LaunchTarget& target, const SourceFile& file) {
  if (!may_be_named(target, file)) return false;
  if (target.recognises != nullptr && target.recognises(file)) return true;
  // A program may name the arguments of another one that it starts.
  const bool other = target.recognises != nullptr && file.name.ends_with(".py");
  return !other && file_matches_target_rules(target.word, file);
}

bool can_recognise_target_command(const LaunchTarget& target) {
  return target.starts != nullptr || !target.data->starts.empty();
}

bool command_starts_target_program(const LaunchTarget& target, Words words) {
  return (target.starts != nullptr && target.starts(words)) ||
         command_matches_target_rules(target.word, words);
}

}  // namespace stepwright::framework_files
