#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/megatron/plan.h"
#include "stepwright/framework_files/recognition/embedded.h"
#include "stepwright/framework_files/rl/nemo_rl_method.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/huggingface/config_writer.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kNemoRlWritten = "rl/nemo_rl_written";

/// Sets a field where NeMo-RL has it; fails, naming the field, if NeMo-RL has none for it.
void set_nemo_rl_field(DocumentTree& config, std::string_view field, const DocumentTree& value) {
  if (field == "recompute_granularity" && value.text == "full") {
    config.set("activation_checkpointing", true);
    return;
  }
  if (field == "moe_flex_dispatcher_backend") {
    config.set("moe_enable_deepep", true);
    return;
  }
  const std::string_view place = meaning_of_program_setting_word(kNemoRlWritten, "written", field);
  if (place.empty()) {
    fail_unsupported(
        fmt::format("Megatron-LM's {} is {}: NeMo-RL has no key for it", field, value.text));
  }
  DocumentTree* section = config.find(place);
  (section == nullptr ? config : *section).set(field, value);
}

void add_megatron_config(DocumentTree& config, const plan::PlannedJob& planned) {
  const DocumentTree fields = megatron_fields(planned, "");
  visit_written_megatron_fields(planned, fields, kNemoRlWritten,
                                [&](const std::string& field, const DocumentTree& value) {
                                  set_nemo_rl_field(config, field, value);
                                });
  config.find("fp8_cfg")->set("enabled", fields.find("fp8") != nullptr);
}

/// Returns the transformers class whose weights are converted; empty if no family describes the
/// model.
std::string_view converter_type(const plan::Job& job) {
  try {
    return huggingface::huggingface_family_of_model(job.model).model_class;
  } catch (const Error&) {
    return "";
  }
}

std::string_view nemo_rl_type(DType precision) {
  if (precision == DType::kFp32) return "float32";
  return precision == DType::kFp16 ? "float16" : "bfloat16";
}

}  // namespace

std::string write_nemo_rl(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  const plan::Job& job = planned.job;
  const YamlJsonDocument start =
      YamlJsonDocument::parse(embedded_file_text("rl/nemo_rl_start"), "nemo-rl");
  DocumentTree file = start.root().copy_tree_with_file_positions();
  DocumentTree& policy = *file.find("policy");
  const std::string folder = exported_model_folder(job);
  const std::string_view type = nemo_rl_type(job.precision);
  policy.set("model_name", folder)
      .set("tokenizer", DocumentTree::make_empty_mapping().set("name", folder));
  policy.set("train_global_batch_size", job.sequences);
  policy.set("train_micro_batch_size", planned.plan.micro_batch);
  policy.set("max_total_sequence_length", job.length);
  policy.set("make_sequence_length_divisible_by", planned.plan.parallel.tensor);
  policy.set("precision", type);
  DocumentTree& config = *policy.find("megatron_cfg");
  config.set("pipeline_dtype", type);
  const std::string_view converter = converter_type(job);
  if (!converter.empty()) config.set("converter_type", converter);
  config.find("optimizer")->set("bf16", type == "bfloat16").set("fp16", type == "float16");
  add_megatron_config(config, planned);
  file.find("data")->set("max_input_seq_length", job.length);
  DocumentTree cluster = DocumentTree::make_empty_mapping();
  cluster.set("gpus_per_node", job.cluster.devices_per_node).set("num_nodes", job.cluster.nodes);
  file.set("cluster", cluster);
  const std::string program = write_nemo_rl_method(planned, file);
  return shell_comment_lines(header) +
         fmt::format("# starts with: uv run {} --config THIS_FILE\n", program) +
         YamlJsonDocument::from_tree(file, "nemo-rl").to_yaml();
}

}  // namespace stepwright::framework_files
