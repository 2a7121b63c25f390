#include "stepwright/framework_files/megatron/rules.h"

namespace stepwright::framework_files {
namespace {

// Settings in this file: NVIDIA/Megatron-LM megatron/core/model_parallel_config.py.

constexpr std::string_view kDegreeRows[] = {"tensor_model_parallel_size",
                                            "pipeline_model_parallel_size", "context_parallel_size",
                                            "sequence_parallel"};

/// Turns sequence parallelism off if there is a single tensor rank, whatever a file says.
void read_degrees(const FrameworkSettingsReader& /*fields*/, const KnownJobFacts& /*known*/,
                  SettingRuleReadResult& reading) {
  if (reading.plan.parallel.tensor == 1) reading.plan.sequence_parallel = false;
}

void read_expert_degrees(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                         SettingRuleReadResult& reading) {
  if (!known.routed) return;
  plan::ParallelismDegrees& degrees = reading.plan.parallel;
  degrees.expert = fields.integer("expert_model_parallel_size", 1);
  degrees.expert_tensor = fields.integer("expert_tensor_parallel_size", degrees.tensor);
}

void write_expert_degrees(const plan::PlannedJob& planned, std::string_view /*release*/,
                          DocumentTree& fields) {
  if (!planned.job.model.experts) return;
  fields.set("expert_model_parallel_size", planned.plan.parallel.expert);
  fields.set("expert_tensor_parallel_size", planned.plan.parallel.expert_tensor);
}

/// Words for kinds of context parallelism. The second word of a kind is read, but never written.
constexpr Named<plan::ContextKind> kMegatronContexts[] = {
    {plan::ContextKind::kRing, "p2p"},
    {plan::ContextKind::kAllGather, "all_gather"},
    {plan::ContextKind::kUlysses, "a2a"},
    {plan::ContextKind::kAllGather, "allgather"}};

void read_context_kind(const FrameworkSettingsReader& fields, const KnownJobFacts& /*known*/,
                       SettingRuleReadResult& reading) {
  const auto kind = fields.find("cp_comm_type");
  if (!kind) return;
  const DocumentNode word = kind->is_sequence() ? kind->at(0) : *kind;
  if (word.text() == "a2a+p2p") {
    reading.left_out.emplace_back(
        *kind, "that context parallelism has two levels: it is taken for a ring");
  } else {
    reading.plan.context_kind = word.choice(kMegatronContexts);
  }
}

void write_context_kind(const plan::PlannedJob& planned, std::string_view /*release*/,
                        DocumentTree& fields) {
  if (planned.plan.parallel.context == 1) return;
  const std::string word(name_of(kMegatronContexts, planned.plan.context_kind));
  fields.set("cp_comm_type", DocumentTree::empty_flow_sequence().add(word));
}

/// Reads use_tp_pp_dp_mapping, which orders ranks so that data-parallel ranks are farthest apart;
/// accepted if experts are placed as in a plan.
void read_rank_order(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                     SettingRuleReadResult& reading) {
  if (!fields.flag("use_tp_pp_dp_mapping", false)) return;
  const plan::ParallelismDegrees& degrees = reading.plan.parallel;
  const bool same = degrees.tensor * degrees.context == degrees.expert_tensor * degrees.expert;
  if (degrees.pipeline == 1 || same || !known.routed) {
    reading.plan.rank_order = plan::parse_rank_order("tp-cp-ep-pp-dp").value();
  } else {
    reading.left_out.emplace_back(
        *fields.find("use_tp_pp_dp_mapping"),
        "that data ranks are farther apart than the stages of a pipeline");
  }
}

void write_rank_order(const plan::PlannedJob& planned, std::string_view /*release*/,
                      DocumentTree& fields) {
  if (planned.plan.rank_order != plan::RankOrder{}) fields.set("use_tp_pp_dp_mapping", true);
}

constexpr std::string_view kMicroBatchRows[] = {"micro_batch_size"};
constexpr std::string_view kTensorOverlapRows[] = {"tp_comm_overlap"};
constexpr std::string_view kExpertOverlapRows[] = {"overlap_moe_expert_parallel_comm",
                                                   "moe_shared_expert_overlap"};

}  // namespace

constinit const SettingTranslationRule kDegrees{
    .rows = kDegreeRows, .table = kMegatronSettingsTable, .read = read_degrees};
constinit const SettingTranslationRule kExpertDegrees{.read = read_expert_degrees,
                                                      .write = write_expert_degrees};
constinit const SettingTranslationRule kContextKind{.read = read_context_kind,
                                                    .write = write_context_kind};
constinit const SettingTranslationRule kRankOrder{.read = read_rank_order,
                                                  .write = write_rank_order};
constinit const SettingTranslationRule kMicroBatch{.rows = kMicroBatchRows,
                                                   .table = kMegatronSettingsTable};
constinit const SettingTranslationRule kTensorOverlap{.rows = kTensorOverlapRows,
                                                      .table = kMegatronSettingsTable};
constinit const SettingTranslationRule kExpertOverlap{.rows = kExpertOverlapRows,
                                                      .table = kMegatronSettingsTable};

}  // namespace stepwright::framework_files
