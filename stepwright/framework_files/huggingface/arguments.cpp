#include "stepwright/framework_files/huggingface/arguments.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/fields.h"
#include "stepwright/framework_files/huggingface/accelerate.h"
#include "stepwright/framework_files/huggingface/arguments_settings.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/huggingface/training_arguments.h"
#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

constexpr std::array<std::string_view, 4> kMarks = {"per_device_train_batch_size", "output_dir",
                                                    "gradient_accumulation_steps", "deepspeed"};

bool has_mark(const Fields& root) {
  if (!root.node().is_mapping()) return false;
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return root.has(mark); });
}

/// The model alone, on plain data parallelism.
void read_model_alone(const std::string& name, const Given& given, Draft& draft) {
  draft.framework_overlap = draft.framework_gradients = true;
  settle_ranks(draft, given, name);
  draft.assume("parallel", "plain data parallelism, as only the model is said");
}

}  // namespace

void read_huggingface(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  const HubFiles sorted = sorted_hub_files(files);
  if (sorted.model) draft.model = read_config(*sorted.model);
  if (sorted.program == nullptr) {
    if (sorted.accelerate != nullptr) fail_input(sorted.name + ": give TrainingArguments, too");
    if (sorted.deepspeed == nullptr) return read_model_alone(sorted.name, given, draft);
    draft.framework.name = "deepspeed";
    return read_deepspeed({sorted.deepspeed, 1}, given, draft);
  }
  const std::string& name = sorted.program->name;
  const Document document = with_settings(Document::parse(sorted.program->text, name), given);
  const Fields arguments(document.root());
  if (!has_mark(arguments)) {
    fail_input(
        fmt::format("{}: is neither a config.json (model_type), nor TrainingArguments "
                    "(per_device_train_batch_size), nor of DeepSpeed (zero_optimization)",
                    name));
  }
  read_training_arguments(arguments, sorted, given, draft, kArgumentSettings);
}

bool is_huggingface(const SourceFile& file) {
  return holds(file, "\"model_type\"") || holds(file, "per_device_train_batch_size");
}

}  // namespace stepwright
