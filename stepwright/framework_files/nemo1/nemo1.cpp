
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/launchers/configured.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/targets/code.h"

// NeMo 1 builds the model from Megatron-Core: NVIDIA/NeMo
// nemo/collections/nlp/models/language_modeling/megatron_base_model.py (`build_transformer_config`,
// `setup_optimization`), megatron_gpt_model.py, nemo/core/classes/modelPT.py.

namespace stepwright::framework_files {
namespace {

/// Returns the configuration with its references resolved and overridden by `given.settings`.
YamlJsonDocument resolved_nemo1(const SourceFile& file, const UserFacts& given,
                                ImportReport& report) {
  return resolve_configuration_references(
      with_user_settings(parse_like_python_yaml(file.text, file.name), given), report.notes);
}

/// Reads nodes and devices if they are numbers; "auto", -1 and lists of devices are skipped.
void read_nemo1_trainer(const FrameworkSettingsReader& trainer, JobRankCounts& extent) {
  const auto count = [&](std::string_view key) -> std::optional<std::int64_t> {
    const auto value = trainer.find(key);
    if (!value || !value->is_number() || value->number() < 1) return std::nullopt;
    return value->integer(1, kMaxIntegerSetting);
  };
  extent.ranks = std::nullopt;
  if (const auto nodes = count("num_nodes")) extent.nodes = nodes;
  if (const auto devices = count("devices")) extent.devices_of_node = devices;
}

/// Reads the type of activations, which parameters share only with `megatron_amp_O2`.
void read_nemo1_precision(const FrameworkSettingsReader& trainer,
                          const FrameworkSettingsReader& model, DocumentTree& derived,
                          ImportReport& report) {
  const auto stated =
      trainer.has("precision") ? trainer.find("precision") : model.find("precision");
  const std::string word = stated ? stated->text() : "32";
  const bool brain = word.starts_with("bf16");
  const bool half = word.starts_with("16") || word == "fp16";
  derived.set("precision", brain ? "bf16" : half ? "fp16" : "fp32");
  if ((brain || half) && !model.flag("megatron_amp_O2", false)) {
    report.add_unmodelled_setting(
        *stated, "that parameters and gradients are in fp32, without megatron_amp_O2");
  }
  if (!model.flag("fp8", false)) return;
  derived.set("fp8", model.flag("fp8_e4m3", false) ? "e4m3" : "hybrid");
}

void read_nemo1_optimizer(const FrameworkSettingsReader& model, DocumentTree& derived) {
  const FrameworkSettingsReader optimizer = model.nested_settings("optim");
  const std::string name = optimizer.word("name", "fused_adam");
  const bool shares = name == "distributed_fused_adam" || name == "mcore_distributed_optim";
  if (!shares && name != "fused_adam" && name != "adam" && name != "adamw") {
    optimizer.find("name")->fail_unsupported(
        "is only supported as distributed_fused_adam, mcore_distributed_optim, fused_adam, adam or "
        "adamw");
  }
  derived.set("use_distributed_optimizer", shares);
  // By default Apex overlaps. Without sharded states, gradients overlap with the backward unless a
  // pipeline sums them first.
  const bool usual = shares ? name == "distributed_fused_adam"
                            : model.integer("pipeline_model_parallel_size", 1) == 1;
  derived.set("overlap_grad_reduce", optimizer.flag("overlap_grad_sync", usual));
  derived.set("overlap_param_gather", shares && optimizer.flag("overlap_param_sync", false));
  const bool narrow = optimizer.word("grad_sync_dtype", "fp32").starts_with("bf16");
  derived.set("grad_reduce_in_fp32", !narrow);
  if (name != "distributed_fused_adam") return;
  // The key is in MiB of the type that is sent: NVIDIA/apex
  // apex/contrib/optimizers/distributed_fused_adam.py.
  constexpr double kUsualMebibytes = 100;
  const double bytes = optimizer.number("bucket_cap_mb", kUsualMebibytes) * 1024 * 1024;
  derived.set("bucket_size", static_cast<std::int64_t>(bytes / (narrow ? 2 : 4)));
}

void read_nemo1_layers(const FrameworkSettingsReader& model, DocumentTree& derived) {
  const std::string norm = model.word("normalization", "layernorm");
  derived.set("normalization", norm == "layernorm1p" ? "layernorm" : norm);
  if (norm == "layernorm1p") derived.set("apply_layernorm_1p", true);
  const std::string activation = model.word("activation", "gelu");
  const auto words = words_of_table_section("nemo1/words", "activations");
  const auto known = std::ranges::find(words, activation, &WordRow::first);
  if (known == words.end()) {
    model.find("activation")
        ->fail_unsupported(
            "is only supported as gelu, swiglu, fast-swiglu, squared-relu or openai-gelu");
  }
  if (!known->second.empty()) derived.set("activation", known->second);
  if (!model.flag("bias_activation_fusion", true)) derived.set("bias_gelu_fusion", false);
  if (!model.flag("gradient_accumulation_fusion", false)) {
    derived.set("gradient_accumulation_fusion", false);
  }
  if (!model.flag("transformer_engine", false)) derived.set("transformer_impl", "local");
}

void read_nemo1_tokenizer(const FrameworkSettingsReader& model, DocumentTree& derived) {
  if (const auto size = model.size("override_vocab_size")) {
    derived.set("vocab_size", *size);
    return;
  }
  const FrameworkSettingsReader tokenizer = model.nested_settings("tokenizer");
  const std::string library = tokenizer.word("library", "megatron");
  const std::string type = tokenizer.word("type", "");
  const std::string_view kind =
      meaning_of_program_setting_word("nemo1/words", "tokenizers", library);
  derived.set("tokenizer_type", kind.empty() ? std::string_view(type) : kind);
  const std::string file = tokenizer.word("model", "");
  const std::string model_name = library == "huggingface" ? type : file;
  if (!kind.empty() && !model_name.empty()) derived.set("tokenizer_model", model_name);
}

void refuse_nemo1_kinds(const FrameworkSettingsReader& model) {
  if (model.flag("fsdp", false)) {
    model.find("fsdp")->fail_unsupported("is not covered yet: PyTorch's FSDP under NeMo 1");
  }
  const std::string scheme = model.nested_settings("peft").word("peft_scheme", "none");
  if (scheme != "none" && scheme != "null") {
    model.nested_settings("peft")
        .find("peft_scheme")
        ->fail_unsupported("is not covered yet: adapters of NeMo 1");
  }
}

}  // namespace

PlanDraft read_nemo1(Sources files, const UserFacts& given, PlanDraft draft, ImportReport& report) {
  if (is_shell_script(files.front())) {
    static constexpr std::string_view kOptions[] = {"--config-name", "-cn"};
    const ConfigurationFileRun run =
        read_run_from_configuration_files(files, given,
                                          {.framework = "NeMo 1",
                                           .arguments = "--config-name FILE NAME=VALUE",
                                           .target = "nemo1",
                                           .options = kOptions,
                                           .overrides = true},
                                          draft.extent, draft.start, report);
    return read_nemo1(run.files, run.given, std::move(draft), report);
  }
  const std::string& file = files.front().name;
  const YamlJsonDocument document = resolved_nemo1(files.front(), given, report);
  const FrameworkSettingsReader root(document.root());
  const FrameworkSettingsReader trainer = root.nested_settings("trainer");
  const FrameworkSettingsReader model = root.nested_settings("model");
  refuse_nemo1_kinds(model);
  draft.framework.name = "nemo";
  read_nemo1_trainer(trainer, draft.extent);
  MegatronFieldSources text{
      .said = flat_megatron_settings(root.node(), megatron_field_paths("nemo1/settings")),
      .program = "NeMo 1"};
  if (model.flag("defer_embedding_wgrad_compute", false)) text.usual.set("wgrad_deferral_limit", 0);
  if (model.has("num_moe_experts")) text.usual.set("moe_grouped_gemm", false);
  if (model.integer("virtual_pipeline_model_parallel_size", 1) > 1) {
    text.usual.set("overlap_p2p_comm", false);
  }
  read_nemo1_precision(trainer, model, text.derived, report);
  read_nemo1_optimizer(model, text.derived);
  read_nemo1_layers(model, text.derived);
  read_nemo1_tokenizer(model, text.derived);
  return read_plan_from_megatron_fields(text, root, known_program_settings("nemo1/settings"), given,
                                        std::move(draft), report, file);
}

}  // namespace stepwright::framework_files
