#include "stepwright/validate/rows/row_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/legality.h"
#include "stepwright/validate/rows/row_cluster.h"
#include "stepwright/validate/rows/row_framework.h"
#include "stepwright/validate/rows/row_model.h"
#include "stepwright/validate/rows/words.h"

namespace stepwright {
namespace {

std::optional<Skipped> missing(std::string_view what) {
  return Skipped{fmt::format("{} not stated", what)};
}

/// Schedules, layouts and memory tricks that no plan expresses.
std::optional<Skipped> cannot_express(const RunRow& row, const Words& notes) {
  const Words sharding(row.sharding);
  if (notes.has("dualpipe")) return Skipped{"DualPipe: no such schedule"};
  if (notes.has("vocab parallel, ", "interlaced pipeline", "layer redistribution")) {
    return Skipped{"vocabulary spread over pipeline stages"};
  }
  if (notes.has("offload")) return Skipped{"activations or states off the GPU"};
  return std::nullopt;
}

/// The precision of matrix products; the widest when the row is silent.
std::optional<DType> precision_of(const RunRow& row) {
  const Words words(row.precision);
  if (words.has("nvfp4")) return DType::kNvfp4;
  if (words.has("fp8-cs", "fp8_cs")) return DType::kFp8;
  if (words.has("mxfp8", "fp8-mx", "fp8_mx")) return DType::kMxfp8;
  if (words.has("fp8", "float8")) return DType::kFp8;
  if (words.has("bf16")) return DType::kBf16;
  if (words.has("fp16")) return DType::kFp16;
  if (words.has("tf32", "fp32")) return DType::kFp32;
  return std::nullopt;
}

std::optional<Skipped> set_degrees(const RunRow& row, RowPlan& out) {
  Plan& plan = out.planned.plan;
  Parallel& size = plan.parallel;
  if (!row.tensor) return missing("tp");
  if (!row.pipeline) return missing("pp");
  size.tensor = *row.tensor;
  size.pipeline = *row.pipeline;
  size.context = row.context.value_or(1);
  size.expert = out.planned.job.model.experts ? row.expert.value_or(1) : 1;
  if (out.planned.job.model.experts && !row.expert) return missing("ep");
  const std::int64_t replica = size.tensor * size.pipeline * size.context;
  if (*row.gpus % replica != 0) return Skipped{"degrees do not divide the GPUs"};
  size.data = *row.gpus / replica;
  return std::nullopt;
}

std::optional<Skipped> set_batch(const RunRow& row, RowPlan& out) {
  if (!row.global_batch) return missing("global_batch");
  if (!row.micro_batch) return missing("micro_batch");
  out.planned.job.sequences = *row.global_batch;
  out.planned.job.length = *row.length;
  out.planned.plan.micro_batch = *row.micro_batch;
  return std::nullopt;
}

std::optional<Skipped> set_schedule(const RunRow& row, RowPlan& out) {
  Plan& plan = out.planned.plan;
  if (plan.parallel.pipeline == 1) return std::nullopt;
  if (!row.chunks) return missing("vpp");
  if (*row.chunks > 1) plan.schedule = {.kind = ScheduleKind::kInterleaved, .chunks = *row.chunks};
  plan.layers = default_layers(out.planned.job, plan);
  return std::nullopt;
}

/// Words of Megatron-Core and of articles for modules that have another name in plans.
constexpr Named<Module> kOtherModuleWords[] = {{Module::kMoeActivation, "act"},
                                               {Module::kMoeActivation, "swiglu"},
                                               {Module::kNorm, "layernorm"},
                                               {Module::kNorm, "rmsnorm"},
                                               {Module::kLatentUp, "mla up-proj"}};

template <std::size_t kCount>
const Named<Module>* named_module(const Named<Module> (&table)[kCount], std::string_view word) {
  const auto* const known = std::ranges::find(table, word, &Named<Module>::name);
  return known == std::end(table) ? nullptr : known;
}

/// What "selective: layernorm, moe_act" lists; nothing where it has another word.
std::optional<ModuleSet> row_modules(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (!text.starts_with("selective") || colon == std::string::npos) return std::nullopt;
  ModuleSet modules;
  std::istringstream list(text.substr(colon + 1));
  for (std::string word; std::getline(list, word, ',');) {
    word.erase(0, word.find_first_not_of(' '));
    const Named<Module>* known = named_module(kModuleNames, word);
    if (known == nullptr) known = named_module(kOtherModuleWords, word);
    if (known == nullptr) return std::nullopt;
    modules.add(known->value);
  }
  return modules;
}

/// "full", "none (...)", "selective", "selective: layernorm, moe_act", "full for 5 layers per
/// stage".
void set_recompute(const RunRow& row, RowPlan& out) {
  const Words words(row.recompute);
  Recompute& recompute = out.planned.plan.recompute;
  if (words.empty()) {
    out.notes.emplace_back("recompute not stated: none assumed");
    return;
  }
  if (words.text().starts_with("none")) return;
  if (const auto layers = words.number_after("full for")) {
    const std::int64_t stage = *row.layers / out.planned.plan.parallel.pipeline;
    recompute = {.kind = RecomputeKind::kEvery,
                 .every = std::max<std::int64_t>(1, stage / std::max<std::int64_t>(1, *layers))};
    return;
  }
  if (const auto modules = row_modules(words.text())) {
    recompute = {.kind = RecomputeKind::kModules,
                 .modules = held_modules(out.planned.job.model, *modules)};
    if (recompute.modules.empty()) recompute = {};
    return;
  }
  if (words.has("full")) {
    recompute.kind = RecomputeKind::kFull;
  } else if (words.text() == "selective" || words.has("minimal_flash")) {
    recompute.kind = RecomputeKind::kSelective;
  } else {
    out.notes.push_back(fmt::format("recompute '{}' taken as none", row.recompute));
  }
}

/// Groups that a remark names: "over 8 ranks", "FSDP2 over 64", "FSDP 16", "(group 8)".
std::int64_t sharding_group(const Words& words, const Parallel& size) {
  const std::int64_t world = size.data * size.context;
  for (const char* before : {"over", "group", "fsdp "}) {
    const auto stated = words.number_after(before);
    if (stated && *stated > 0 && *stated < world && world % *stated == 0) return *stated;
  }
  return world;
}

void set_sharding(const RunRow& row, RowPlan& out) {
  const Words words(row.sharding);
  Plan& plan = out.planned.plan;
  const std::int64_t world = plan.parallel.data * plan.parallel.context;
  const bool splits_optimizer =
      words.has("zero-1", "distributed optimizer", "dist optimizer", "bf16_optimizer");
  if (words.empty()) {
    plan.sharding = framework_defaults(out.planned.job.framework).recipe_sharding;
    return;
  }
  std::string_view states = "NNN";
  if (words.has("shard_grad_op", "zero-2", "no reshard")) {
    states = "NGG";
  } else if (words.has("fsdp", "zero-3")) {
    states = "GGG";
  } else if (splits_optimizer) {
    states = "NNG";
  }
  plan.sharding = *sharding_of(states);
  const std::int64_t group = sharding_group(words, plan.parallel);
  if (states == "NNN" || group == world) return;
  plan.sharding = *sharding_of(states == "GGG" ? "III" : "NNI");
  plan.sharding.group = group;
  if (out.planned.job.model.experts) {
    const std::int64_t experts = plan.parallel.expert_data();
    plan.sharding.expert_group = std::min(experts, group);
  }
}

/// Type in which gradients are reduced, by the remarks on sharding or else the framework.
DType reduced_type(const RunRow& row, const Job& job) {
  const Words sharding(row.sharding);
  const DType stored = storage_type(job.precision);
  if (sharding.has("pure")) return stored;
  if (sharding.has("mixed_precision=default", "fp32 grad", "bf16_optimizer")) return DType::kFp32;
  return stored == DType::kFp16 ? stored : default_gradients(job);
}

void set_tensor_choices(const RunRow& row, RowPlan& out) {
  Plan& plan = out.planned.plan;
  const bool several = plan.parallel.tensor > 1;
  const bool stated = !row.sequence_parallel.empty();
  const Job& job = out.planned.job;
  plan.sequence_parallel =
      several && (stated ? row.sequence_parallel == "y"
                         : framework_defaults(job.framework).recipe_sequence_parallel);
  if (plan.sequence_parallel) plan.tensor_input = default_tensor_input(job);
  plan.overlap = row_overlap(row, out.planned);
  plan.accumulate = reduced_type(row, out.planned.job);
}

void set_buckets(RowPlan& out) {
  Plan& plan = out.planned.plan;
  const Buckets buckets = default_buckets(out.planned.job, plan);
  plan.gradient_bucket = buckets.gradients;
  plan.parameter_bucket = buckets.parameters;
}

/// The model of a row, or else that of the job it is of.
std::optional<Skipped> set_model(const RunRow& row, const Job* of, Job& job) {
  if (of != nullptr && row.model.empty() && !row.layers) {
    job.model = of->model;
    job.model_name = of->model_name;
    return std::nullopt;
  }
  auto model = row_model(row);
  if (auto* skipped = std::get_if<Skipped>(&model)) return *skipped;
  job.model = std::get<Architecture>(std::move(model));
  job.model_name = row.model;
  return std::nullopt;
}

/// The same of its cluster.
std::optional<Skipped> set_cluster(const RunRow& row, const Job* of, Job& job) {
  if (of != nullptr && row.gpu.empty() && row.cluster.empty()) {
    job.cluster = of->cluster;
    return std::nullopt;
  }
  auto cluster = row_cluster(row);
  if (auto* skipped = std::get_if<Skipped>(&cluster)) return *skipped;
  job.cluster = std::get<Cluster>(std::move(cluster));
  return std::nullopt;
}

std::optional<Skipped> fill(const RunRow& row, const Job* of, RowPlan& out) {
  Job& job = out.planned.job;
  if (auto skipped = cannot_express(row, Words(row.notes))) return skipped;
  if (auto skipped = set_model(row, of, job)) return skipped;
  if (auto skipped = set_cluster(row, of, job)) return skipped;
  const auto precision = precision_of(row);
  if (!precision) out.notes.emplace_back("precision not stated: bf16 assumed");
  job.precision = precision.value_or(DType::kBf16);
  job.framework = row_framework(row);
  job.kernels = row_kernels(row, job.cluster.device);
  job.optimizer = default_optimizer(job.framework, job.model);
  if (Words(row.notes).has("deepep", "hybridep")) job.dispatcher = Dispatcher::kOncePerNode;
  if (auto skipped = set_degrees(row, out)) return skipped;
  if (auto skipped = set_batch(row, out)) return skipped;
  if (auto skipped = set_schedule(row, out)) return skipped;
  set_recompute(row, out);
  set_sharding(row, out);
  set_tensor_choices(row, out);
  set_buckets(out);
  return std::nullopt;
}

}  // namespace

std::variant<RowPlan, Skipped> row_plan(const RunRow& row, const Job* of) {
  RowPlan out;
  if (auto skipped = fill(row, of, out)) return *skipped;
  if (const auto rule = broken_rule(out.planned.job, out.planned.plan)) {
    return Skipped{fmt::format("no legal plan: {}", rule_name(*rule))};
  }
  return out;
}

}  // namespace stepwright
