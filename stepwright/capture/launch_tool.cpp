#include "stepwright/capture/launch_tool.h"

#include <algorithm>
#include <string_view>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/tools.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

/// Subcommands of a launcher that do not start training.
struct OtherUses {
  std::string_view tool, subcommands;
};

constexpr OtherUses kOtherUses[] = {
    {"accelerate", "config env test estimate-memory merge-weights to-fsdp2 tpu-config"},
    {"tune", "ls cp download cat validate"},
    {"llamafactory-cli", "version env export chat webchat api webui help"},
    {"lmf", "version env export chat webchat api webui help"},
    {"axolotl",
     "fetch preprocess inference merge-lora quantize evaluate merge-sharded-fsdp-weights "
     "vllm-serve delinearize-llama4"},
    {"swift", "export infer deploy app eval web-ui merge-lora sample rollout"},
    {"sky", "status down stop logs queue check cancel start autostop"},
    {"dstack", "init ps stop logs server offer fleet"},
    {"torchx", "status log list cancel configure builtins runopts"},
    {"litgpt", "download convert_to_litgpt convert_from_litgpt chat generate serve evaluate"},
    {"xtuner", "list-cfg copy-cfg log-dataset check-custom-dataset convert chat"},
    {"oumi", "env infer evaluate judge"},
    {"trl", "env chat vllm-serve"},
    {"colossalai", "check"}};

}  // namespace

bool is_training_command(const Words& words) {
  if (words.size() < 2)
    return words.size() == 1 &&
           launch_scripts::last_path_part(words.front()).starts_with("fairseq");
  const std::string_view what = words[1];
  if (what == "--help" || what == "-h" || what == "--version" || what == "-V" ||
      what == "version") {
    return false;
  }
  const std::string_view name = launch_scripts::last_path_part(words.front());
  return std::ranges::none_of(kOtherUses, [&](const OtherUses& uses) {
    return uses.tool == name && word_list_contains(uses.subcommands, what);
  });
}

}  // namespace stepwright::capture
