#include "stepwright/framework_files/huggingface/deepspeed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/lower_case.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/training_code_comment.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/huggingface/optimizer_words.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/files/read_adapters.h"

namespace stepwright::framework_files {
namespace {

using Json = nlohmann::ordered_json;

// Defaults of DeepSpeedZeroConfig in deepspeedai/DeepSpeed deepspeed/runtime/zero/config.py.
constexpr std::int64_t kUsualPrefetch = 50'000'000;
constexpr std::string_view kLastWithMics = "0.19.6";

/// The ZeRO stage that shards given states, and the key for the size of its group of ranks.
struct ZeroStage {
  std::string_view states;
  int stage = 0;
  std::string_view group = "";
};
constexpr ZeroStage kZeroStages[] = {{"NNN", 0},
                                     {"NNG", 1},
                                     {"NGG", 2},
                                     {"GGG", 3},
                                     {"III", 3, "mics_shard_size"},
                                     {"IGG", 3, "zero_hpz_partition_size"}};

constexpr Named<DType> kDeepspeedTypes[] = {
    {DType::kFp32, "fp32"}, {DType::kFp16, "fp16"}, {DType::kBf16, "bf16"}};

const ZeroStage& stage_of(const plan::PlannedJob& planned) {
  std::string word = plan::sharding_letters(planned.plan.sharding);
  // A single rank also needs ZeRO to offload states to the host.
  if (word == "NNN" && planned.plan.offload.optimizer > 0) {
    const bool third = planned.plan.offload.optimizer < 1 || planned.plan.offload.parameters;
    word = third ? "GGG" : "NNG";
  }
  const auto* found = std::ranges::find(kZeroStages, word, &ZeroStage::states);
  return *found;
}

Json zero_json(const plan::PlannedJob& planned) {
  const plan::Plan& plan = planned.plan;
  const ZeroStage& zero = stage_of(planned);
  Json json{{"stage", zero.stage}};
  if (zero.stage == 0) return json;
  json["overlap_comm"] = plan.overlap.gradients;
  json["contiguous_gradients"] = true;
  json["reduce_scatter"] = true;
  json["reduce_bucket_size"] = plan.gradient_bucket;
  if (zero.stage < 3) {
    json["allgather_bucket_size"] = plan.parameter_bucket;
  } else {
    json["stage3_prefetch_bucket_size"] = plan.overlap.parameters ? plan.parameter_bucket : 0;
  }
  if (!zero.group.empty()) json[std::string(zero.group)] = plan.sharding.group;
  if (plan.offload.optimizer > 0) {
    json["offload_optimizer"] = {{"device", "cpu"}};
    if (plan.offload.optimizer < 1) json["offload_optimizer"]["ratio"] = plan.offload.optimizer;
  }
  if (plan.offload.parameters) json["offload_param"] = {{"device", "cpu"}};
  return json;
}

/// Returns the properties that the training code must provide.
Json code_json(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  Json json = Json::object();
  if (!header.empty()) json["about"] = header;
  json["model"] = exported_model_folder(planned.job);
  json["length"] = planned.job.length;
  json["optimizer"] = name_of(plan::kOptimizerNames, optimizer_to_export(planned.job));
  if (planned.job.optimizer == plan::Optimizer::kMuon) {
    json["muon"] = name_of(plan::kMuonFormNames, planned.job.muon);
  }
  if (planned.plan.recompute.kind == plan::RecomputeKind::kFull) json["recompute"] = "full";
  if (planned.plan.offload.offloads_layer_inputs()) json[kActivationOffloadingKey] = true;
  if (!planned.plan.layers.empty()) json["layers"] = planned.plan.layers;
  plan::write_adapters_and_frozen_parts(json, planned.job);
  return json;
}

void read_precision_keys(const FrameworkSettingsReader& fields, PartialPlan& settled,
                         ImportReport& report, int stage) {
  const bool half = fields.nested_settings("fp16").flag("enabled", false);
  const bool brain = fields.nested_settings("bf16").flag("enabled", false) ||
                     fields.nested_settings("bfloat16").flag("enabled", false);
  if (half && brain) fields.find("fp16")->fail("bf16 and fp16 are both enabled; only one can be");
  settled.precision = half ? DType::kFp16 : brain ? DType::kBf16 : DType::kFp32;
  const DType own = settled.precision;
  // Without ZeRO-2, the optimizer for bf16 sums gradients in fp32.
  const DType usual = brain && stage < 2 ? DType::kFp32 : own;
  const DType reduced = fields.choice("communication_data_type", kDeepspeedTypes, usual);
  const DType summed =
      fields.nested_settings("data_types").choice("grad_accum_dtype", kDeepspeedTypes, reduced);
  settled.plan.accumulate = own == DType::kFp32 ? DType::kFp32 : summed;
  if (reduced != settled.plan.accumulate) {
    report.notes.push_back(fmt::format("Gradients are summed in {}; there they are reduced in {}.",
                                       name_of(kDTypeNames, settled.plan.accumulate),
                                       name_of(kDTypeNames, reduced)));
  }
}

void read_optimizer_keys(const FrameworkSettingsReader& fields, PartialPlan& settled,
                         ImportReport& report) {
  const FrameworkSettingsReader section = fields.nested_settings("optimizer");
  const auto type = section.node().find("type");
  if (!type || type->is_null()) return;
  const std::string word = to_lower_case(type->text());
  set_optimizer_by_name(section, "type",
                        find_optimizer_name(word, "huggingface/deepspeed_optimizers"), settled,
                        report);
}

/// Returns the number of ranks in a sharding group from the setting `key` of `zero_optimization`;
/// nullopt if it is absent or not above 1.
std::optional<std::int64_t> group_of(const FrameworkSettingsReader& zero, std::string_view key) {
  const auto value = zero.find(key);
  if (!value) return std::nullopt;
  const std::int64_t size = value->integer(-1, kMaxIntegerSetting);
  return size > 1 ? std::optional(size) : std::nullopt;
}

/// True if a DeepSpeed section (`offload_optimizer`) offloads states to host memory; offload to
/// disk is reported as not expressed.
bool involves_host(const FrameworkSettingsReader& section, ImportReport& report) {
  static constexpr Named<int> kDevices[] = {{0, "none"}, {1, "cpu"}, {2, "nvme"}};
  const auto device = section.find("device");
  if (!device) return false;
  const int place = device->choice(kDevices);
  if (place == 2)
    report.add_unmodelled_setting(*device, "states on disks: they are counted on the devices");
  return place == 1;
}

/// Returns the setting that offloads states to the host: the section's `device`, or `cpu_offload:
/// true` of releases before ZeRO-Infinity; nullopt if none does.
std::optional<DocumentNode> host_setting(const FrameworkSettingsReader& zero,
                                         std::string_view section, std::string_view older,
                                         ImportReport& report) {
  if (involves_host(zero.nested_settings(section), report))
    return zero.nested_settings(section).find("device");
  const auto flag = zero.has(section) ? std::nullopt : zero.find(older);
  return flag && flag->boolean() ? flag : std::nullopt;
}

/// Returns how many elements of parameters ZeRO-3 gathers ahead of their use.
std::int64_t prefetched_elements(const FrameworkSettingsReader& zero) {
  return zero.integer(
      zero.has("prefetch_bucket_size") ? "prefetch_bucket_size" : "stage3_prefetch_bucket_size",
      kUsualPrefetch, 0);
}

}  // namespace

void read_deepspeed_overlap(const FrameworkSettingsReader& zero, int stage, plan::Plan& plan) {
  const bool piped = plan.parallel.pipeline > 1;
  plan.overlap = plan::all_overlap_flags(false);
  const bool overlaps = zero.flag("overlap_comm", stage == 3);
  plan.overlap.gradients = stage > 0 && overlaps && !piped;
  plan.overlap.parameters = stage == 3 && prefetched_elements(zero) > 0 && !piped;
}

void read_deepspeed_offload(const FrameworkSettingsReader& zero, int stage, plan::Plan& plan,
                            ImportReport& report) {
  if (stage == 0) return;
  if (host_setting(zero, "offload_optimizer", "cpu_offload", report)) {
    const auto ratio = zero.nested_settings("offload_optimizer").find("ratio");
    const double share = ratio ? ratio->number(0, 1) : 1;
    plan.offload.optimizer = stage == 3 ? share : 1;
  }
  if (stage != 3) return;
  auto setting = host_setting(zero, "offload_param", "cpu_offload_param", report);
  // DeepSpeed 0.3 has the key `cpu_offload_params`.
  if (!setting) setting = host_setting(zero, "offload_param", "cpu_offload_params", report);
  if (!setting) return;
  const bool alike = plan.sharding.parameters == plan.sharding.optimizer;
  const bool alone = plan.parallel.data * plan.parallel.context == 1;
  plan.offload.parameters =
      alike && plan.offload.optimizer == 1 && (alone || shards_optimizer_states(plan));
  if (plan.offload.parameters) return;
  report.add_unmodelled_setting(
      *setting,
      "parameters on the host, which no plan has without all of the optimizer and ranks "
      "that share both: they are counted on the devices");
}

namespace {

void read_zero(const FrameworkSettingsReader& fields, PartialPlan& settled, ImportReport& report) {
  const FrameworkSettingsReader zero = fields.nested_settings("zero_optimization");
  plan::Plan& plan = settled.plan;
  const auto given = zero.find("stage");
  const auto stage = static_cast<int>(given ? given->integer(0, 3) : 0);
  const auto mics = group_of(zero, "mics_shard_size");
  const auto hpz = group_of(zero, "zero_hpz_partition_size");
  if (mics && hpz) {
    zero.find("mics_shard_size")->fail("cannot be given together with zero_hpz_partition_size");
  }
  if (mics && settled.framework.version.empty()) {
    settled.framework.version = kLastWithMics;
    report.notes.push_back(fmt::format(
        "DeepSpeed is assumed to be {}, because later releases have no mics_shard_size.",
        kLastWithMics));
  }
  const std::string_view key = mics ? "mics_shard_size" : hpz ? "zero_hpz_partition_size" : "";
  if (!key.empty() && stage != 3) zero.find(key)->fail("needs stage 3");
  for (const ZeroStage& known : kZeroStages) {
    if (known.stage != stage || known.group != key) continue;
    plan.sharding = plan::sharding_named_by_word(known.states).value();
  }
  plan.sharding.group = mics.value_or(hpz.value_or(1));
  read_deepspeed_overlap(zero, stage, plan);
  plan.gradient_bucket = zero.integer("reduce_bucket_size", kDeepspeedDefaultBucketElements);
  const std::int64_t ahead = prefetched_elements(zero);
  plan.parameter_bucket = zero.integer("allgather_bucket_size", kDeepspeedDefaultBucketElements);
  if (stage == 3) plan.parameter_bucket = ahead > 0 ? ahead : plan.gradient_bucket;
  read_deepspeed_offload(zero, stage, settled.plan, report);
  read_precision_keys(fields, settled, report, stage);
}

PlanDraft read_code(const FrameworkSettingsReader& fields, const UserFacts& given, PlanDraft draft,
                    ImportReport& report) {
  const FrameworkSettingsReader code = fields.nested_settings("stepwright");
  if (const auto model = code.find("model"))
    set_built_in_model(model->text(), given, draft, report);
  if (const auto length = code.size("length")) draft.batch.length = length;
  if (const auto recompute = code.find("recompute"))
    draft.plan.recompute = plan::read_recompute(*recompute);
  if (const auto layers = code.find("layers")) draft.plan.layers = plan::read_chunk_layers(*layers);
  draft.optimizer = code.choice("optimizer", plan::kOptimizerNames, draft.optimizer);
  draft.muon = code.choice("muon", plan::kMuonFormNames, draft.muon);
  if (code.has("adapters") || code.has("frozen")) {
    draft.trained = YamlJsonDocument::from_tree(code.node().copy_tree_with_file_positions(),
                                                code.node().file_position_text());
  }
  if (code.flag(kActivationOffloadingKey, false)) draft.plan.offload.move_inputs();
  const auto checkpointing = fields.find("activation_checkpointing");
  if (!code.has("recompute") && checkpointing) {
    draft.plan.recompute.kind = plan::RecomputeKind::kFull;
    report.notes.push_back(
        "Recomputation is assumed to be full, because activation_checkpointing is configured.");
    if (fields.nested_settings("activation_checkpointing").flag("cpu_checkpointing", false)) {
      draft.plan.offload.move_inputs();
    }
  } else if (!code.has("recompute") && !fields.has("stepwright")) {
    report.notes.push_back(
        "No recomputation is assumed, because DeepSpeed leaves it to the training code.");
  }
  return draft;
}

}  // namespace

std::string write_deepspeed(const plan::PlannedJob& planned,
                            const std::vector<std::string>& header) {
  const plan::Job& job = planned.job;
  const plan::Plan& plan = planned.plan;
  const plan::ParallelismDegrees& degrees = plan.parallel;
  Json json{{"stepwright", code_json(planned, header)},
            {"train_batch_size", job.sequences},
            {"train_micro_batch_size_per_gpu", plan.micro_batch},
            {"gradient_accumulation_steps", plan::micro_batches_per_pipeline(job, plan)}};
  if (plan::parameter_storage_type(job.precision) == DType::kBf16)
    json["bf16"] = {{"enabled", true}};
  if (job.precision == DType::kFp16) json["fp16"] = {{"enabled", true}};
  if (job.precision != DType::kFp32) {
    const std::string_view type = name_of(kDeepspeedTypes, plan.accumulate);
    json["communication_data_type"] = type;
    json["data_types"] = {{"grad_accum_dtype", type}};
  }
  json["zero_optimization"] = zero_json(planned);
  if (degrees.tensor > 1) json["tensor_parallel"] = {{"autotp_size", degrees.tensor}};
  if (degrees.context > 1) json["sequence_parallel_size"] = degrees.context;
  if (degrees.pipeline > 1) json["pipeline"] = {{"stages", degrees.pipeline}};
  if (degrees.expert > 1) {
    json["expert_parallel"] = {{"enabled", true}, {"autoep_size", degrees.expert}};
  }
  return terminal_safe_text(json.dump(2)) + "\n";
}

bool trains_with_deepspeed(const plan::Job& job) {
  return job.framework.name == launch_target_description("deepspeed").framework;
}

DocumentTree deepspeed_configuration(const plan::PlannedJob& planned) {
  constexpr const char* kAuto = "auto";
  const plan::Job& job = planned.job;
  Json json{{"train_batch_size", kAuto},
            {"train_micro_batch_size_per_gpu", kAuto},
            {"gradient_accumulation_steps", kAuto}};
  const bool half = job.precision == DType::kFp16;
  if (job.precision != DType::kFp32) {
    const std::string_view type = name_of(kDeepspeedTypes, planned.plan.accumulate);
    json[half ? "fp16" : "bf16"] = {{"enabled", kAuto}};
    json["communication_data_type"] = type;
    json["data_types"] = {{"grad_accum_dtype", type}};
  }
  json["zero_optimization"] = zero_json(planned);
  const std::int64_t tensor = planned.plan.parallel.tensor;
  if (tensor > 1) json["tensor_parallel"] = {{"autotp_size", tensor}};
  const YamlJsonDocument document = YamlJsonDocument::parse(json.dump(), "deepspeed");
  return document.root().copy_tree_with_file_positions();
}

namespace {

void read_deepspeed_degrees(const FrameworkSettingsReader& fields, plan::Plan& plan) {
  plan::ParallelismDegrees& degrees = plan.parallel;
  const std::int64_t tensor =
      fields.nested_settings("tensor_parallel").integer("autotp_size", 0, 0);
  if (tensor > 0) degrees.tensor = tensor;
  if (const auto context = fields.size("sequence_parallel_size")) {
    degrees.context = *context;
    plan.context_kind = plan::ContextKind::kUlysses;
  }
  if (const auto stages = fields.nested_settings("pipeline").size("stages"))
    degrees.pipeline = *stages;
  const FrameworkSettingsReader experts = fields.nested_settings("expert_parallel");
  if (experts.flag("enabled", false)) degrees.expert = experts.integer("autoep_size", 1);
}

PlanDraft read_deepspeed_fields(const FrameworkSettingsReader& fields, PlanDraft draft,
                                ImportReport& report, const UserFacts& given,
                                const std::string& file, bool has_trainer) {
  read_deepspeed_degrees(fields, draft.plan);
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file);
  if (const auto size = fields.size("train_micro_batch_size_per_gpu")) {
    draft.plan.micro_batch = *size;
  }
  draft.batch.sequences = fields.size("train_batch_size");
  draft.batch.micro_batches = fields.size("gradient_accumulation_steps");
  draft.batch.derive_micro_batch = !fields.has("train_micro_batch_size_per_gpu");
  read_zero(fields, draft, report);
  if (!has_trainer) draft = read_code(fields, given, std::move(draft), report);
  read_optimizer_keys(fields, draft, report);
  const FrameworkSettingsReader zero = fields.nested_settings("zero_optimization");
  const auto scatters = zero.node().find("reduce_scatter");
  if (scatters && !scatters->is_null() && scatters->text() == "false") {
    zero.record_unmodelled_setting("reduce_scatter", *scatters,
                                   "all-reduces in the place of reduce-scatters");
  }
  report_read_and_unread_settings(fields, file, known_program_settings("huggingface/deepspeed"),
                                  report);
  return draft;
}

/// Returns the plan field that a setting of DeepSpeed sets; empty: none.
std::string_view field_of(std::string_view path) {
  const auto all = known_program_settings("huggingface/deepspeed");
  const auto known = std::ranges::find(all, path, &KnownSetting::name);
  return known == all.end() ? "" : known->field;
}

/// Dotted paths of the settings that are "auto", with their lines in the file.
using Autos = std::map<std::string, std::uint32_t>;
DocumentTree without_autos(const DocumentTree& tree, const std::string& path, Autos& autos) {
  if (tree.kind != DocumentTree::TreeValueKind::kMapping) return tree;
  TreeMappingBuilder members;
  for (const auto& [name, value] : tree_members(tree)) {
    const std::string key = path + name;
    if (value.kind == DocumentTree::TreeValueKind::kScalar && value.text == "auto" &&
        !field_of(key).empty()) {
      autos[key] = value.line;
    } else {
      members.set(name, without_autos(value, key + ".", autos));
    }
  }
  DocumentTree kept = members.finished_mapping();
  kept.line = tree.line;
  kept.column = tree.column;
  return kept;
}

DocumentTree& section_of(DocumentTree& tree, std::string_view key) {
  if (tree.find(key) == nullptr) tree.set(key, DocumentTree::make_empty_mapping());
  return *tree.find(key);
}

/// Replaces "auto" in a DeepSpeed configuration by the Trainer's values, and removes these settings
/// from the ones that are still "auto".
class Filler {
 public:
  Filler(const TrainerAutoValues& trainer, std::string file, DocumentTree& tree, Autos& open,
         ImportReport& report)
      : trainer_(trainer), file_(std::move(file)), tree_(tree), open_(open), report_(report) {}

  void fill() {
    if (trainer_.micro_batch) {
      match("train_micro_batch_size_per_gpu", *trainer_.micro_batch, "per_device_train_batch_size");
    }
    if (trainer_.accumulation) {
      match("gradient_accumulation_steps", *trainer_.accumulation, "gradient_accumulation_steps");
    }
    // The batch is micro-batch x accumulation x ranks, so it needs no value of its own.
    if (trainer_.micro_batch) open_.erase("train_batch_size");
    if (trainer_.precision) fill_precision();
    if (trainer_.hidden) fill_buckets();
  }

 private:
  /// Sets a value to the Trainer's; fails with `kInput` if the configuration states another one.
  void match(std::string_view key, const DocumentTree& value, std::string_view argument) {
    match_in(tree_, key, std::string(key), value, argument);
  }

  void match_in(DocumentTree& section, std::string_view key, const std::string& path,
                const DocumentTree& value, std::string_view argument) {
    open_.erase(path);
    const DocumentTree* said = section.find(key);
    if (said == nullptr || said->kind == DocumentTree::TreeValueKind::kNull) {
      section.set(key, value);
    } else if (said->text != value.text) {
      fail_input(fmt::format("{}:{}: {} is {}, but the trainer's {} is {}", file_, said->line, path,
                             one_line_printable_text(said->text), argument, value.text));
    }
  }

  /// Fills in the precision, in a section of the configuration or in one that Accelerate adds.
  void fill_precision() {
    static constexpr std::pair<std::string_view, DType> kSections[] = {{"bf16", DType::kBf16},
                                                                       {"fp16", DType::kFp16}};
    for (const auto& [name, precision] : kSections) {
      const bool on = trainer_.precision == precision;
      if (!on && tree_.find(name) == nullptr) continue;
      DocumentTree& section = section_of(tree_, name);
      const std::string path = fmt::format("{}.enabled", name);
      if (section.kind != DocumentTree::TreeValueKind::kMapping) continue;
      if (!on && section.find("enabled") == nullptr && !open_.contains(path)) continue;
      match_in(section, "enabled", path, on, name);
    }
  }

  void fill_buckets() {
    const std::int64_t square = *trainer_.hidden * *trainer_.hidden;
    fill_bucket("reduce_bucket_size", square, "the square of the model's width");
    fill_bucket("stage3_prefetch_bucket_size", square * 9 / 10,
                "0.9 of the square of the model's width");
  }

  void fill_bucket(std::string_view key, std::int64_t value, std::string_view why) {
    const std::string path = fmt::format("zero_optimization.{}", key);
    if (open_.erase(path) == 0) return;
    section_of(tree_, "zero_optimization").set(key, value);
    report_.add_assumption(std::string(field_of(path)), fmt::format("auto in {}: {}", file_, why));
  }

  const TrainerAutoValues& trainer_;
  std::string file_;
  DocumentTree& tree_;
  Autos& open_;
  ImportReport& report_;
};

/// Assumes a value for each remaining "auto": bf16 for the precision, DeepSpeed's defaults for
/// others.
void note_open_autos(const Autos& open, const std::string& file, DocumentTree& tree,
                     ImportReport& report) {
  for (const auto& [path, line] : open) {
    report.add_assumption(std::string(field_of(path)),
                          fmt::format("auto ({}:{}), which no given file fills", file, line));
  }
  if (!open.contains("bf16.enabled")) return;
  const DocumentTree* half = tree.find("fp16");
  const DocumentTree* enabled = half == nullptr ? nullptr : half->find("enabled");
  if (enabled != nullptr && enabled->text != "false") return;
  tree.set("bf16", DocumentTree::make_empty_mapping().set("enabled", true));
  report.add_assumption("job.precision",
                        fmt::format("auto ({}:{}): taken as bf16", file, open.at("bf16.enabled")));
}

/// Returns the configuration that DeepSpeed prints into a log when its engine starts, with its line
/// breaks; nullopt if the text has none. deepspeedai/DeepSpeed deepspeed/runtime/config.py: print.
std::optional<std::string> printed_configuration(std::string_view text) {
  constexpr std::string_view kPrinted = "json = {";
  const std::size_t mark = text.find(kPrinted);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::size_t begin = mark + kPrinted.size() - 1;
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == '{') {
      ++depth;
    } else if (!quoted && text[i] == '}' && --depth == 0) {
      return std::string(static_cast<std::size_t>(lines), '\n') +
             std::string(text.substr(begin, i + 1 - begin));
    }
  }
  return std::nullopt;
}

}  // namespace

PlanDraft read_deepspeed_configuration(const YamlJsonDocument& document, const UserFacts& given,
                                       PlanDraft draft, ImportReport& report,
                                       const TrainerAutoValues* trainer) {
  const std::string& name = document.document_name();
  Autos autos;
  DocumentTree tree = without_autos(document.root().copy_tree_with_file_positions(), "", autos);
  if (tree.kind != DocumentTree::TreeValueKind::kMapping)
    document.root().fail("must be a mapping (key: value)");
  Autos open = autos;
  if (trainer != nullptr) Filler(*trainer, name, tree, open, report).fill();
  note_open_autos(open, name, tree, report);
  const YamlJsonDocument filled = YamlJsonDocument::from_tree(std::move(tree), name);
  draft = read_deepspeed_fields(FrameworkSettingsReader(filled.root()), std::move(draft), report,
                                given, name, trainer != nullptr);
  std::erase_if(report.read, [&](const ImportedSetting& one) { return autos.contains(one.name); });
  return draft;
}

PlanDraft read_deepspeed(Sources files, const UserFacts& given, PlanDraft draft,
                         ImportReport& report) {
  if (std::ranges::any_of(files, is_shell_script)) {
    return read_deepspeed_script(files, given, std::move(draft), report);
  }
  if (files.size() != 1) fail_input("deepspeed: one file is read at a time");
  const SourceFile& file = files.front();
  const auto printed = printed_configuration(file.text);
  return read_deepspeed_configuration(
      with_user_settings(parse_like_python_yaml(printed ? *printed : file.text, file.name), given),
      given, std::move(draft), report);
}

bool is_deepspeed(const SourceFile& file) {
  return printed_configuration(file.text).has_value() ||
         file_matches_target_rules("deepspeed", file);
}

}  // namespace stepwright::framework_files
