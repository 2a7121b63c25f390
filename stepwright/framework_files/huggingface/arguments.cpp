#include "stepwright/framework_files/huggingface/arguments.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/fields.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/settings.h"
#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

constexpr Named<Optimizer> kOptimizerWords[] = {{Optimizer::kAdamW, "adamw_torch"},
                                                {Optimizer::kAdamW, "adamw_torch_fused"},
                                                {Optimizer::kAdamW, "adamw_hf"},
                                                {Optimizer::kAdamW, "adamw_apex_fused"},
                                                {Optimizer::kSgd, "sgd"}};

/// The roles of the given files.
struct HuggingFaceFiles {
  std::optional<Document> model, arguments;
  const SourceFile* deepspeed = nullptr;
  std::string name;
};

template <class Value>
void take_once(std::optional<Value>& place, Value value, const std::string& name,
               std::string_view what) {
  if (place) fail_input(fmt::format("{}: is a second {}", name, what));
  place = std::move(value);
}

HuggingFaceFiles sorted_files(std::span<const SourceFile> files) {
  HuggingFaceFiles sorted;
  sorted.name = files.front().name;
  for (const SourceFile& file : files) {
    Document document = Document::parse(file.text, file.name);
    const Fields root(document.root());
    if (root.has("model_type")) {
      take_once(sorted.model, std::move(document), file.name, "config.json of a model");
    } else if (root.has("zero_optimization") || root.has("train_micro_batch_size_per_gpu")) {
      if (sorted.deepspeed != nullptr) fail_input(file.name + ": is a second one of DeepSpeed");
      sorted.deepspeed = &file;
    } else if (root.has("per_device_train_batch_size") || root.has("output_dir") ||
               root.has("gradient_accumulation_steps")) {
      take_once(sorted.arguments, std::move(document), file.name, "set of TrainingArguments");
    } else {
      fail_input(
          fmt::format("{}: is neither a config.json (model_type), nor TrainingArguments "
                      "(per_device_train_batch_size), nor of DeepSpeed (zero_optimization)",
                      file.name));
    }
  }
  return sorted;
}

std::string strategy_of(const Fields& arguments) {
  const auto given = arguments.find("fsdp");
  if (!given) return "";
  if (!given->is_sequence()) return given->text();
  std::string text;
  for (std::size_t i = 0; i < given->size(); ++i) text += given->at(i).text() + " ";
  return text;
}

void read_strategy(const Fields& arguments, Draft& draft, const std::string& file) {
  const std::string strategy = strategy_of(arguments);
  const auto says = [&](std::string_view word) { return strategy.find(word) != std::string::npos; };
  Sharding& sharding = draft.plan.sharding;
  if (says("offload")) {
    const Node place = *arguments.find("fsdp");
    draft.report.not_read.push_back({"fsdp", "offload", file, place.line(), Matters::kYes,
                                     "offload to the host: its messages and what it frees of the "
                                     "devices"});
  }
  if (says("hybrid_shard")) {
    sharding = sharding_of(says("zero2") ? "NII" : "III").value();
    sharding.group = draft.cluster.devices_per_node;
    draft.notes.push_back("The sharding group is taken to be the devices of a node.");
  } else if (says("full_shard") || strategy == "true" || strategy == "True") {
    sharding = sharding_of("GGG").value();
  } else if (says("shard_grad_op")) {
    sharding = sharding_of("NGG").value();
  } else if (!strategy.empty() && strategy != "false" && !says("no_shard")) {
    arguments.find("fsdp")->fail(
        "must be full_shard, shard_grad_op, hybrid_shard, hybrid_shard_zero2 or no_shard");
  }
}

void read_arguments(const Fields& arguments, Draft& draft) {
  const bool brain = arguments.flag("bf16", false);
  const bool half = arguments.flag("fp16", false);
  if (brain && half) arguments.find("fp16")->fail("bf16 and fp16 are both true; only one can be");
  draft.precision = brain ? DType::kBf16 : half ? DType::kFp16 : DType::kFp32;
  constexpr std::int64_t kUsualBatch = 8;
  draft.open_micro_batch = false;
  draft.plan.micro_batch = arguments.integer("per_device_train_batch_size", kUsualBatch);
  draft.micro_batches = arguments.integer("gradient_accumulation_steps", 1);
  draft.length = arguments.size("max_length");
  if (!draft.length) draft.length = arguments.size("max_seq_length");
  if (arguments.flag("gradient_checkpointing", false)) {
    draft.plan.recompute.kind = RecomputeKind::kFull;
  }
  draft.optimizer = arguments.choice("optim", kOptimizerWords, Optimizer::kAdamW);
}

}  // namespace

void read_huggingface(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  const HuggingFaceFiles sorted = sorted_files(files);
  if (sorted.model) draft.model = read_config(*sorted.model);
  draft.framework_overlap = draft.framework_gradients = sorted.deepspeed == nullptr;
  if (sorted.deepspeed != nullptr) {
    draft.framework.name = "deepspeed";
    read_deepspeed({sorted.deepspeed, 1}, given, draft);
  }
  if (!sorted.arguments) {
    if (sorted.deepspeed == nullptr) {
      settle_ranks(draft, given, sorted.name);
      draft.assume("parallel", "plain data parallelism, as only the model is said");
    }
    return;
  }
  const Fields arguments(sorted.arguments->root());
  if (sorted.deepspeed == nullptr && arguments.has("deepspeed")) {
    fail_input(
        fmt::format("{}: names a configuration of DeepSpeed: give its file, too", sorted.name));
  }
  if (sorted.deepspeed == nullptr) {
    settle_ranks(draft, given, sorted.name);
    read_strategy(arguments, draft, sorted.name);
  }
  read_arguments(arguments, draft);
  list_settings(arguments, sorted.name, kArgumentSettings, draft.report);
}

bool is_huggingface(const SourceFile& file) {
  return holds(file, "\"model_type\"") || holds(file, "per_device_train_batch_size");
}

}  // namespace stepwright
