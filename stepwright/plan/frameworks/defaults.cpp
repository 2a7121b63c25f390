#include "stepwright/plan/frameworks/defaults.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "stepwright/cluster/generation.h"
#include "stepwright/core/parallel.h"
#include "stepwright/plan/frameworks/filled_buckets.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/frameworks/table.h"
#include "stepwright/plan/overlap_table.h"

namespace stepwright::plan {

FrameworkDefaults::FrameworkDefaults() {
  const OverlapFlags usual;
  for (std::size_t i = 0; i < overlap.size(); ++i) {
    overlap[i] = usual.*kOverlapFlagNames[i].value ? FrameworkDefaultCondition::kEverywhere
                                                   : FrameworkDefaultCondition::kNowhere;
  }
}

namespace {

FrameworkDefaults unnamed_defaults() {
  FrameworkDefaults defaults;
  defaults.memory.evidence = FrameworkMemoryEvidence::kLabels;
  return defaults;
}

/// For each `defaults:` line of an entry: true if it applies to a framework's release and variant.
std::vector<bool> lines_of(const FrameworkDescription& entry, const TrainingFramework& framework) {
  std::vector<bool> lines;
  lines.reserve(entry.defaults.size());
  for (const FrameworkDefaultLine& line : entry.defaults) {
    const bool mine = line.variant.empty() || line.variant == framework.variant;
    lines.push_back(mine && range_covers_release(line.releases, framework.version));
  }
  return lines;
}

/// Cache of defaults. A release can be any text, but only few different sets of lines apply.
class KnownDefaults {
 public:
  const FrameworkDefaults& of(const TrainingFramework& framework) {
    const FrameworkDescription& entry = framework_description(framework.name);
    const std::lock_guard lock(mutex_);
    const auto [known, fresh] = known_.try_emplace({&entry, lines_of(entry, framework)});
    if (!fresh) return known->second;
    const std::vector<bool>& lines = known->first.second;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i]) continue;
      for (const DefaultSetting& set : entry.defaults[i].settings) set(known->second);
    }
    return known->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const FrameworkDescription*, std::vector<bool>>, FrameworkDefaults> known_;
};

}  // namespace

const FrameworkDefaults& framework_defaults(const TrainingFramework& framework) {
  static const FrameworkDefaults kUnnamed = unnamed_defaults();
  static KnownDefaults known;
  if (framework.name.empty()) return kUnnamed;
  // A search asks for one framework some million times.
  thread_local std::pair<TrainingFramework, const FrameworkDefaults*> last;
  if (last.first != framework) last = {framework, &known.of(framework)};
  return *last.second;
}

std::vector<std::string> framework_field_words() {
  // All entries are needed below, and reading one takes a millisecond.
  parallel_for(static_cast<int>(std::thread::hardware_concurrency()), std::size(kFrameworkNames),
               [](std::size_t i) { framework_description(kFrameworkNames[i]); });
  std::vector<std::string> words(std::begin(kFrameworkNames), std::end(kFrameworkNames));
  for (const std::string_view name : kFrameworkNames) {
    for (const std::string_view variant : framework_variant_names(name)) {
      const std::optional<TrainingFramework> main = base_framework_of_variant(variant);
      if (main && main->name == name) words.emplace_back(variant);
    }
  }
  return words;
}

std::optional<TrainingFramework> base_framework_of_variant(std::string_view word) {
  std::optional<TrainingFramework> found;
  for (const std::string_view name : kFrameworkNames) {
    if (name == word) return std::nullopt;
    const std::vector<FrameworkVariant>& variants = framework_description(name).variants;
    const auto named = std::ranges::find(variants, word, &FrameworkVariant::name);
    if (named == variants.end() || !named->word_of.empty()) continue;
    if (found) return std::nullopt;
    found = TrainingFramework{.name = std::string(name), .variant = std::string(word)};
  }
  return found;
}

std::vector<std::string_view> framework_variant_names(std::string_view framework) {
  std::vector<std::string_view> names;
  for (const FrameworkVariant& one : framework_description(framework).variants)
    names.push_back(one.name);
  return names;
}

std::string_view base_framework(const TrainingFramework& framework) {
  const FrameworkDescription& entry = framework_description(framework.name);
  return entry.like.empty() ? entry.name : entry.like;
}

FrameworkKernels default_kernels(const TrainingFramework& framework,
                                 const cluster::DeviceModel& device) {
  FrameworkKernels kernels = framework_defaults(framework).kernels;
  kernels.attention = default_attention_kernel(framework, device, false);
  return kernels;
}

cluster::AttentionKernel default_attention_kernel(const TrainingFramework& framework,
                                                  const cluster::DeviceModel& device,
                                                  bool deterministic) {
  const FrameworkDefaults& defaults = framework_defaults(framework);
  cluster::AttentionKernel chosen = defaults.kernels.attention;
  if (framework.name.empty()) return chosen;
  const auto choose = [&](const auto& kernels) {
    for (const auto& [generation, kernel] : kernels) {
      if (generation == &cluster::device_generation_of(device)) chosen = kernel;
    }
  };
  choose(defaults.attention);
  if (deterministic) choose(defaults.deterministic_attention);
  return chosen;
}

WordSet selectable_attention_kernels(const TrainingFramework& framework) {
  if (framework.name.empty()) return WordSet().set();
  return framework_defaults(framework).selects &
         FrameworkSupport(framework).supported_property_words(FrameworkProperty::kAttention, 0);
}

namespace {

/// Sets the loss to the one asked for if the framework's files can select it; for another fused
/// loss, to the first that they can select.
void take_loss(const FrameworkKernels& asked, const FrameworkDefaults& defaults,
               FrameworkKernels& kernels) {
  const auto& losses = defaults.losses;
  auto said = losses.find(asked.loss_keeps);
  if (said == losses.end() && asked.fused_loss()) said = losses.begin();
  if (said == losses.end()) return;
  const bool usual = said->first == defaults.kernels.loss_keeps;
  kernels.loss_keeps = said->first;
  kernels.loss_chunks = said->second.value_or(std::max<std::int64_t>(1, asked.loss_chunks));
  const bool whole =
      said->first == LossSavedTensors::kLogits || said->first == LossSavedTensors::kAllLogits;
  // other losses get the cross entropy with which the written files are read back
  if (whole) return;
  kernels.cross_entropy = usual ? defaults.kernels.cross_entropy : CrossEntropyKernel::kCompiled;
}

}  // namespace

FrameworkKernels configured_kernels(const Job& job) {
  const FrameworkKernels& asked = job.kernels;
  if (job.framework.name.empty()) return asked;
  FrameworkKernels kernels = default_kernels(job.framework, job.cluster.device);
  const auto place = static_cast<std::size_t>(asked.attention);
  if (selectable_attention_kernels(job.framework)[place]) kernels.attention = asked.attention;
  kernels.cross_entropy = asked.cross_entropy;
  const FrameworkDefaults& defaults = framework_defaults(job.framework);
  if (defaults.compiles) {
    kernels.fused_norm = asked.fused_norm || asked.fused_loss();
    kernels.cross_entropy =
        kernels.fused_norm ? CrossEntropyKernel::kCompiled : CrossEntropyKernel::kUnfused;
  }
  take_loss(asked, defaults, kernels);
  kernels.narrow_attention = asked.narrow_attention && defaults.narrow_attention;
  if (defaults.narrow_parameters) kernels.narrow_parameters = asked.narrow_parameters;
  const bool in_place = asked.masters == MasterWeights::kNone && !job.model.adapters;
  if (in_place && job.precision == DType::kBf16 && defaults.updates_in_place) {
    kernels.masters = MasterWeights::kNone;
  }
  return kernels;
}

std::int64_t host_threads(const Job& job) {
  return job.host_threads.value_or(framework_defaults(job.framework).host_threads);
}

std::int64_t host_update_gradient_passes(const Job& job, const Plan& plan) {
  return framework_defaults(job.framework).host_passes.value_or(plan.offload.parameters ? 3 : 0);
}

Optimizer default_optimizer(const TrainingFramework& framework,
                            const model::ModelArchitecture& model) {
  const FrameworkDefaults& defaults = framework_defaults(framework);
  return model.latent ? defaults.latent_optimizer : Optimizer::kAdam;
}

OverlapFlags default_overlap(const Job& job, const Plan& plan) {
  const FrameworkDefaults& defaults = framework_defaults(job.framework);
  OverlapFlags overlap;
  for (std::size_t i = 0; i < defaults.overlap.size(); ++i) {
    overlap.*kOverlapFlagNames[i].value = default_condition_applies(defaults.overlap[i], job, plan);
  }
  return overlap;
}

DType default_gradient_type(const Job& job) {
  const DType stored = parameter_storage_type(job.precision);
  const bool scaled = stored == DType::kFp16 && !job.framework.name.empty();
  const bool narrow = job.kernels.masters == MasterWeights::kNone;
  if (scaled || narrow || framework_defaults(job.framework).stored_gradients) return stored;
  return default_accumulation_type(job.precision);
}

DType default_gradient_type(const Job& job, Plan plan) {
  const DType usual = default_gradient_type(job);
  if (job.framework.name.empty()) return usual;
  const FrameworkSupport law(job.framework);
  for (const DType type :
       {usual, parameter_storage_type(job.precision), default_accumulation_type(job.precision)}) {
    plan.accumulate = type;
    if (law.supports_plan(FrameworkProperty::kAccumulate, job, plan)) return type;
  }
  return usual;
}

GatheredInputPolicy default_gathered_input_policy(const Job& job) {
  const FrameworkDefaults& defaults = framework_defaults(job.framework);
  // Transformer Engine's layers pass gathered rows to their adapters, which keep them
  // (NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/peft/lora.py, sequence_parallel_input_regather
  // is off).
  const bool handed = job.kernels.transformer_engine && !defaults.local_adapters;
  return job.model.adapters && handed ? GatheredInputPolicy::kKeep : defaults.tensor_input;
}

std::vector<std::int64_t> default_stage_layers(const Job& job, const Plan& plan) {
  if (plan.schedule.chunks > 1) return {};
  const StageSplitRule split = framework_defaults(job.framework).layers;
  return framework_layer_counts_per_stage(split, job.model, plan.parallel.pipeline);
}

BucketSizes default_bucket_sizes(const Job& job, const Plan& plan) {
  constexpr std::int64_t kWhole = 1'000'000'000'000;
  const std::int64_t bytes = framework_defaults(job.framework).bucket_bytes;
  BucketSizes usual{Plan{}.gradient_bucket, Plan{}.parameter_bucket};
  if (bytes > 0) {
    const std::int64_t least = bytes / bytes_of_elements(parameter_storage_type(job.precision), 1);
    usual = {mean_filled_bucket_elements(job.model, plan.parallel.tensor, least), kWhole};
    if (!plan.overlap.gradients) usual.gradients = kWhole;
  }
  return fixed_bucket_sizes(job.framework, job, plan, usual);
}

BucketSizes fixed_bucket_sizes(const TrainingFramework& framework, const Job& job, const Plan& plan,
                               BucketSizes chosen) {
  if (framework.name.empty()) return chosen;
  const WordSet taken = property_values_of_plan(FrameworkProperty::kSharding, job, plan);
  for (const FixedFrameworkBuckets& buckets : framework_description(framework.name).buckets) {
    if ((taken & buckets.sharding).none()) continue;
    if (!buckets.variant.empty() && buckets.variant != framework.variant) continue;
    const std::int64_t ranks = plan.parallel.data * plan.parallel.context;
    if (!buckets.of_plan) {
      chosen.gradients = std::max(buckets.gradients, buckets.of_rank * ranks);
    }
    if (buckets.parameters) chosen.parameters = chosen.gradients;
  }
  return chosen;
}

}  // namespace stepwright::plan
