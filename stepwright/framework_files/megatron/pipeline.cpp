#include <fmt/format.h>

#include <algorithm>

#include "stepwright/framework_files/megatron/deepspeed_fields.h"
#include "stepwright/framework_files/megatron/layout.h"
#include "stepwright/framework_files/megatron/mixers.h"
#include "stepwright/framework_files/megatron/rules.h"
#include "stepwright/plan/frameworks/release.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::framework_files {
namespace {

/// Returns the number of chunks (virtual stages) per pipeline stage, stated or derived from the
/// layers per chunk.
std::int64_t counted_chunks(const FrameworkSettingsReader& fields, std::int64_t pipeline) {
  const std::int64_t chunks = fields.integer("virtual_pipeline_model_parallel_size", 1);
  const auto each = fields.find("num_layers_per_virtual_pipeline_stage");
  if (!each) return chunks;
  const std::int64_t share = pipeline * each->integer(1, model::kMaxModelLayers);
  const std::int64_t whole = layer_count_to_split(fields, fields.integer("num_layers", 0));
  if (whole == 0 || whole % share != 0) {
    each->fail(fmt::format("{} layers are not a multiple of {} x {} stages", whole, each->text(),
                           pipeline));
  }
  return whole / share;
}

/// Returns why Megatron-Core would not start because the layers do not divide evenly among stages
/// and no setting splits them (megatron/core/transformer/transformer_block.py:
/// get_num_layers_to_build); nullopt: it would start. DeepSpeed accepts uneven stages.
std::optional<plan::PlanRejection> uneven_refusal(const FrameworkSettingsReader& fields,
                                                  std::int64_t layers, const plan::Plan& plan) {
  const std::int64_t pipeline = plan.parallel.pipeline;
  if (!plan.layers.empty() || layers % pipeline == 0 || is_megatron_deepspeed(fields) ||
      hybrid_layer_count(fields)) {
    return std::nullopt;
  }
  const std::string message = fmt::format(
      "{} layers are not a multiple of {} stages, with which Megatron-Core does not start: "
      "--decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers or "
      "--pipeline-model-parallel-layout say another split",
      layers, pipeline);
  return plan::PlanRejection{
      .rule = plan::PlanLegalityRule::kLayerSplit, .message = message, .nearest = {}};
}

/// Splits layers by the stated numbers on the first and the last stage.
void read_counts(const FrameworkSettingsReader& fields, std::int64_t chunks,
                 SettingRuleReadResult& reading) {
  const auto first = fields.find("num_layers_in_first_pipeline_stage");
  const auto last = fields.find("num_layers_in_last_pipeline_stage");
  if (chunks > 1 && (first || last)) {
    (first ? first : last)
        ->fail_unsupported(
            "an uneven stage beside virtual stages: nothing covers it but "
            "--pipeline-model-parallel-layout");
  }
  const std::int64_t layers = fields.integer("num_layers", 0);
  plan::Plan& plan = reading.plan;
  plan.layers = megatron_uneven_chunk_layer_counts(fields, layers, plan.parallel.pipeline * chunks);
  reading.refused = uneven_refusal(fields, layers, plan);
}

/// Splits layers as stated by a layout, or by the cuts in a hybrid's pattern; returns the chunks
/// per stage.
std::int64_t split_by_cuts(DocumentNode stated, std::vector<std::int64_t> layers,
                           std::string_view parts, plan::Plan& plan) {
  const std::int64_t pipeline = plan.parallel.pipeline;
  const std::int64_t count = std::ssize(layers);
  if (count % pipeline != 0) {
    stated.fail(
        fmt::format("{} {} are not a multiple of pipeline size {}", count, parts, pipeline));
  }
  plan.layers = std::move(layers);
  return count / pipeline;
}

/// Sets the number of layers in each pipeline chunk from Megatron's settings, and returns the
/// number of chunks per stage.
std::int64_t read_split(const FrameworkSettingsReader& fields, SettingRuleReadResult& reading) {
  plan::Plan& plan = reading.plan;
  const std::int64_t chunks = counted_chunks(fields, plan.parallel.pipeline);
  if (const auto layout = fields.find("pipeline_model_parallel_layout")) {
    if (has_multi_token_layers_before_last_stage(*layout)) {
      reading.left_out.emplace_back(
          *layout, "that multi-token layers stand on a stage before that of the loss");
    }
    return split_by_cuts(*layout, parse_megatron_layout(*layout), "stages", plan);
  }
  if (const auto cut = hybrid_chunk_layer_counts(fields); !cut.empty()) {
    return split_by_cuts(*fields.find("hybrid_layer_pattern"), cut, "parts", plan);
  }
  read_counts(fields, chunks, reading);
  return chunks;
}

constexpr std::string_view kPipelineRows[] = {"defer_embedding_wgrad_compute"};

/// Returns the micro-batches of a step if settings state the batch; nullopt: the batch is stated
/// elsewhere.
std::optional<std::int64_t> stated_micro_batches(const FrameworkSettingsReader& fields,
                                                 const plan::Plan& plan) {
  const auto sequences = fields.size("global_batch_size");
  if (!sequences) return std::nullopt;
  return *sequences / (plan.micro_batch * plan.parallel.data);
}

/// Reads whether the head's weight gradients are deferred, and fails for combinations that
/// Megatron-Core refuses. The first `wgrad_deferral_limit` micro-batches defer them
/// (megatron/core/tensor_parallel/layers.py).
void read_deferred_head(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                        SettingRuleReadResult& reading) {
  plan::Plan& plan = reading.plan;
  if (!plan.overlap.defer_embedding_gradient) return;
  const DocumentNode deferral = *fields.find("defer_embedding_wgrad_compute");
  if (plan.parallel.pipeline == 1) deferral.fail("needs pipeline_model_parallel_size above 1");
  if (!fields.flag("gradient_accumulation_fusion", true)) {
    deferral.fail("needs gradient_accumulation_fusion");
  }
  const auto limit = fields.find("wgrad_deferral_limit");
  if (!limit && megatron_default_value("wgrad_deferral_limit", known.framework).empty()) {
    deferral.fail("needs wgrad_deferral_limit, 0 for all micro-batches: without it nothing waits");
  }
  const std::int64_t first = fields.integer("wgrad_deferral_limit", 0, 0);
  if (first == 0) return;
  const auto all = stated_micro_batches(fields, plan);
  if (all && first >= *all) return;
  plan.overlap.defer_embedding_gradient = false;
  reading.left_out.emplace_back(
      *limit, fmt::format("that the head's weight gradients of the first {} micro-batches wait for "
                          "the drain",
                          first));
}

void read_pipeline(const FrameworkSettingsReader& fields, const KnownJobFacts& known,
                   SettingRuleReadResult& reading) {
  plan::Plan& plan = reading.plan;
  const std::int64_t pipeline = plan.parallel.pipeline;
  const std::int64_t chunks = read_split(fields, reading);
  const auto virtual_size = fields.find("num_layers_per_virtual_pipeline_stage");
  if (virtual_size && chunks == 1 && pipeline > 1 &&
      !fields.has("pipeline_model_parallel_layout")) {
    // get_forward_backward_func in megatron/core/pipeline_parallel/schedules.py accepts any number
    // of chunks.
    reading.left_out.emplace_back(
        *virtual_size, "the interleaved schedule of one chunk, which keeps more micro-batches");
  }
  if (chunks > 1) {
    plan.schedule = {.kind = schedule::PipelineScheduleKind::kInterleaved,
                     .chunks = chunks,
                     .group = fields.integer("microbatch_group_size_per_vp_stage", pipeline)};
  }
  plan.overlap.pipeline = chunks > 1 && fields.flag("overlap_p2p_comm", true);
  read_deferred_head(fields, known, reading);
}

/// Writes the layers of chunks, and the number of layers per chunk in all ways in which files state
/// it.
void write_split(const plan::PlannedJob& planned, std::string_view release, DocumentTree& fields) {
  const plan::Plan& plan = planned.plan;
  const std::vector<std::int64_t> layers = plan::layers_per_chunk(planned.job, plan);
  const bool equal = std::ranges::count(layers, layers.front()) == std::ssize(layers);
  const bool hybrid = is_megatron_hybrid_model(planned.job.model);
  if (hybrid && (!equal || plan.schedule.chunks > 1)) {
    fields.set("hybrid_layer_pattern", hybrid_layer_pattern_text(planned.job.model, layers));
  } else if (!equal) {
    fields.set("pipeline_model_parallel_layout",
               megatron_layout_text(layers, planned.job.model.extra_predicted_tokens()));
  } else if (plan.schedule.chunks > 1 && plan::is_earlier_release(release, "0.12")) {
    fields.set("num_layers_per_virtual_pipeline_stage", layers.front());
  } else if (plan.schedule.chunks > 1) {
    fields.set("virtual_pipeline_model_parallel_size", plan.schedule.chunks);
  }
}

void write_pipeline(const plan::PlannedJob& planned, std::string_view release,
                    DocumentTree& fields) {
  const plan::Plan& plan = planned.plan;
  if (plan.overlap.defer_embedding_gradient) fields.set("wgrad_deferral_limit", std::int64_t{0});
  write_split(planned, release, fields);
  if (plan.schedule.chunks == 1) return;
  if (!plan.overlap.pipeline) fields.set("overlap_p2p_comm", false);
  const std::int64_t group = schedule::micro_batch_group_size_of_schedule(
      plan.schedule, plan.parallel.pipeline, plan::micro_batches_per_pipeline(planned.job, plan));
  if (group != plan.parallel.pipeline) fields.set("microbatch_group_size_per_vp_stage", group);
}

}  // namespace

constinit const SettingTranslationRule kPipeline{.rows = kPipelineRows,
                                                 .table = kMegatronSettingsTable,
                                                 .read = read_pipeline,
                                                 .write = write_pipeline};

}  // namespace stepwright::framework_files
