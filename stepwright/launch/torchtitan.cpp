#include "stepwright/launch/torchtitan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/launch/fields.h"
#include "stepwright/launch/python_call.h"
#include "stepwright/launch/toml.h"
#include "stepwright/launch/torchrun.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright {
namespace {

constexpr Named<ScheduleKind> kSchedules[] = {{ScheduleKind::kOneForwardOneBackward, "1F1B"},
                                              {ScheduleKind::kGpipe, "GPipe"},
                                              {ScheduleKind::kInterleaved, "Interleaved1F1B"}};
constexpr Named<ContextKind> kRotateMethods[] = {{ContextKind::kAllGather, "allgather"},
                                                 {ContextKind::kRing, "alltoall"}};

/// Models of torchtitan by its own names.
struct Flavor {
  std::string_view model;  ///< Of `built_in_models`.
  std::string_view name;
  std::string_view flavor;
};
constexpr Flavor kFlavors[] = {{"llama-3-8b", "llama3", "8B"},
                               {"llama-3-70b", "llama3", "70B"},
                               {"llama-3.1-8b", "llama3", "8B"},
                               {"llama-3.1-70b", "llama3", "70B"},
                               {"llama-3.1-405b", "llama3", "405B"},
                               {"deepseek-v3", "deepseek_v3", "671B"},
                               {"qwen3-0.6b", "qwen3", "0.6B"},
                               {"qwen3-8b", "qwen3", "8B"},
                               {"qwen3-32b", "qwen3", "32B"},
                               {"qwen3-30b-a3b", "qwen3", "30B-A3B"},
                               {"qwen3-235b-a22b", "qwen3", "235B-A22B"}};

constexpr std::string_view kNewForm = "0.3";

bool is_toml(const PlannedJob& planned) {
  const std::string& release = planned.job.framework.version;
  return comes_before(release, kNewForm);
}

/// Ranks over which parameters are copied; the others of data x context share them.
std::int64_t replicas(const PlannedJob& planned) {
  const Plan& plan = planned.plan;
  const std::int64_t ranks = plan.parallel.data * plan.parallel.context;
  if (plan.sharding.uses(Spread::kInner)) {
    if (plan.sharding.group % plan.parallel.context != 0) {
      fail_unsupported(
          fmt::format("sharding group {}: torchtitan shards over whole context groups of {} ranks",
                      plan.sharding.group, plan.parallel.context));
    }
    return ranks / plan.sharding.group;
  }
  return plan.sharding.uses(Spread::kGlobal) ? 1 : plan.parallel.data;
}

/// A section of the file: keys and values in order.
struct Section {
  std::string name;
  Tree values = Tree::mapping();
};

std::vector<std::vector<std::string>> modules_of(const PlannedJob& planned) {
  std::vector<std::vector<std::string>> parts;
  std::int64_t layer = 0;
  for (const std::int64_t count : chunk_layers(planned.job, planned.plan)) {
    std::vector<std::string>& part = parts.emplace_back();
    if (layer == 0) part.emplace_back("tok_embeddings");
    for (std::int64_t i = 0; i < count; ++i) part.push_back(fmt::format("layers.{}", layer++));
  }
  parts.back().insert(parts.back().end(), {"norm", "output"});
  return parts;
}

void add_pipeline(Tree& values, const PlannedJob& planned, bool toml) {
  const Plan& plan = planned.plan;
  if (plan.parallel.pipeline == 1) return;
  values.set("pipeline_parallel_degree", plan.parallel.pipeline);
  values.set("pipeline_parallel_schedule", name_of(kSchedules, plan.schedule.kind));
  if (toml) {
    values.set("pipeline_parallel_microbatch_size", plan.micro_batch);
  } else {
    values.set("num_pp_microbatches", micro_batches(planned.job, plan));
  }
  Tree parts = Tree::sequence();
  for (const auto& part : modules_of(planned)) parts.add(Tree::flow_sequence(part));
  values.set("module_fqns_per_model_part", parts);
}

Section parallelism(const PlannedJob& planned, bool toml) {
  const Plan& plan = planned.plan;
  const Parallel& degrees = plan.parallel;
  Section section{"parallelism"};
  const std::int64_t copies = replicas(planned);
  section.values.set("data_parallel_replicate_degree", copies);
  section.values.set("data_parallel_shard_degree", degrees.data / copies);
  if (plan.sharding.gradients != Spread::kNone) {
    section.values.set("fsdp_reshard_after_forward",
                       plan.sharding.parameters == Spread::kNone ? "never" : "always");
  }
  section.values.set("tensor_parallel_degree", degrees.tensor);
  if (!toml && degrees.tensor > 1) {
    section.values.set("enable_sequence_parallel", plan.sequence_parallel);
  }
  if (toml && plan.overlap.tensor && degrees.tensor > 1) {
    section.values.set("enable_async_tensor_parallel", true);
  }
  section.values.set("context_parallel_degree", degrees.context);
  if (toml && degrees.context > 1) {
    section.values.set("context_parallel_rotate_method",
                       name_of(kRotateMethods, plan.context_kind));
  }
  add_pipeline(section.values, planned, toml);
  if (!planned.job.model.experts) return section;
  section.values.set("expert_parallel_degree", degrees.expert);
  if (toml) section.values.set("expert_tensor_parallel_degree", degrees.expert_tensor);
  section.values.set("expert_parallel_comm_backend",
                     planned.job.dispatcher == Dispatcher::kOncePerNode ? "deepep" : "standard");
  return section;
}

Section training(const PlannedJob& planned, bool toml) {
  const Job& job = planned.job;
  const Plan& plan = planned.plan;
  Section section{"training"};
  // With a pipeline the local batch is cut into micro-batches, without one gradients accumulate.
  const bool piped = plan.parallel.pipeline > 1;
  const std::int64_t local = piped ? job.sequences / plan.parallel.data : plan.micro_batch;
  if (toml) {
    section.values.set("local_batch_size", local);
    section.values.set("global_batch_size", job.sequences);
    section.values.set("seq_len", job.length);
  } else {
    section.values.set("num_tokens_per_microbatch_per_dp_rank", plan.micro_batch * job.length);
    section.values.set("num_tokens_per_train_step", job.sequences * job.length);
    section.values.set("max_context_length", job.length);
  }
  const bool wide = job.precision == DType::kFp32;
  section.values.set("mixed_precision_param", wide ? "float32" : "bfloat16");
  section.values.set("mixed_precision_reduce", "float32");
  return section;
}

const Flavor* flavor_of(const std::string& model) {
  const auto* found = std::ranges::find(kFlavors, model, &Flavor::model);
  return found == std::end(kFlavors) ? nullptr : found;
}

std::string toml_value(const Tree& value) {
  if (value.kind == Tree::Kind::kSequence) {
    std::vector<std::string> items;
    for (const Tree& item : value.items) items.push_back(toml_value(item));
    const bool nested = !value.items.empty() && value.items[0].kind == Tree::Kind::kSequence;
    return nested ? fmt::format("[\n  {},\n]", fmt::join(items, ",\n  "))
                  : fmt::format("[{}]", fmt::join(items, ", "));
  }
  const Document part = Document::from(Tree::mapping().set("value", value), "value");
  const Node node = part.root().get("value");
  const bool bare = node.is_number() || value.text == "true" || value.text == "false";
  return bare ? value.text : fmt::format("\"{}\"", value.text);
}

std::string python_value(const Tree& value) {
  if (value.text == "true") return "True";
  if (value.text == "false") return "False";
  return toml_value(value);
}

std::string toml_text(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections) {
    text += fmt::format("\n[{}]\n", section.name);
    const std::vector<Tree>& items = section.values.items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      text += fmt::format("{} = {}\n", items[i].text, toml_value(items[i + 1]));
    }
  }
  return text;
}

std::string keywords(const Section& section) {
  std::string text;
  const std::vector<Tree>& items = section.values.items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    text += fmt::format("            {}={},\n", items[i].text, python_value(items[i + 1]));
  }
  return text;
}

Section model_section(const PlannedJob& planned) {
  Section section{"model"};
  const Flavor* flavor = flavor_of(planned.job.model_name);
  section.values.set("name", flavor != nullptr ? flavor->name : "llama3");
  section.values.set("flavor",
                     flavor != nullptr ? flavor->flavor : std::string_view(planned.job.model_name));
  const bool blocks = planned.job.precision == DType::kMxfp8;
  if (blocks || planned.job.precision == DType::kFp8) {
    section.values.set("converters", Tree::flow_sequence().add(blocks ? "quantize.linear.mx"
                                                                      : "quantize.linear.float8"));
  }
  return section;
}

Section checkpointing(const Plan& plan) {
  Section section{"activation_checkpoint"};
  const bool every = plan.recompute.kind == RecomputeKind::kEvery;
  section.values.set("mode", every                                         ? "selective"
                             : plan.recompute.kind == RecomputeKind::kFull ? "full"
                                                                           : "none");
  if (every) {
    section.values.set("selective_ac_option",
                       Tree::scalar(std::to_string(plan.recompute.every), true));
  }
  return section;
}

std::string python_text(const PlannedJob& planned) {
  const Flavor* flavor = flavor_of(planned.job.model_name);
  const std::string_view name = flavor != nullptr ? flavor->name : "llama3";
  const std::string_view word =
      flavor != nullptr ? flavor->flavor : std::string_view(planned.job.model_name);
  const Plan& plan = planned.plan;
  std::string recompute = "None";
  std::string imports;
  if (plan.recompute.kind == RecomputeKind::kFull) {
    recompute = "FullAC.Config()";
    imports = "from torchtitan.components.activation_checkpoint import FullAC\n";
  }
  std::string compile;
  if (plan.overlap.tensor && plan.parallel.tensor > 1) {
    compile = "        compile=CompileConfig(enable=True, enable_async_tensor_parallel=True),\n";
  }
  return fmt::format(
      "\n{}from torchtitan.config import {}ParallelismConfig, TrainingConfig\n"
      "from torchtitan.models.{} import model_registry\n"
      "from torchtitan.trainer import Trainer\n\n\n"
      "def stepwright_plan() -> Trainer.Config:\n"
      "    return Trainer.Config(\n"
      "        model_spec=model_registry(\"{}\"),\n"
      "        training=TrainingConfig(\n{}        ),\n"
      "        parallelism=ParallelismConfig(\n{}        ),\n"
      "        activation_checkpoint={},\n{}    )\n",
      imports, compile.empty() ? "" : "CompileConfig, ", name, word,
      keywords(training(planned, false)), keywords(parallelism(planned, false)), recompute,
      compile);
}

void refuse_what_no_release_says(const PlannedJob& planned, bool toml) {
  const Plan& plan = planned.plan;
  if (!toml && plan.recompute.kind == RecomputeKind::kEvery) {
    fail_unsupported(
        "recompute every: torchtitan after 0.2.2 says it by operator only; nearest: recompute "
        "full, or --release 0.2.2");
  }
  const bool narrow =
      planned.job.precision == DType::kFp8 || planned.job.precision == DType::kMxfp8;
  if (!toml && narrow) {
    fail_unsupported(
        "precision fp8, mxfp8: the converters of torchtitan after 0.2.2 are not written yet; "
        "nearest: precision bf16, or --release 0.2.2");
  }
}

/// The file in one form: sections of the TOML file are the arguments of the newer function.
struct TitanFile {
  Document document;
  bool toml = true;
};

TitanFile read_form(const SourceFile& file) {
  if (!file.name.ends_with(".py") && file.text.find("Trainer.Config(") == std::string::npos) {
    return {parse_toml(file.text, file.name), true};
  }
  return {read_python_call(file.text, "Trainer.Config", file.name, "model_registry"), false};
}

void read_model_name(const Fields& root, bool toml, Draft& draft, const Given& given) {
  if (given.known_model) return;
  std::string flavor;
  std::string name;
  if (toml) {
    const Fields model = root.section("model");
    name = model.word("name", "llama3");
    flavor = model.word("flavor", "debugmodel");
  } else {
    const auto unnamed = root.section("model_spec").find("[]");
    if (unnamed && unnamed->size() > 0) flavor = unnamed->at(0).text();
  }
  for (const Flavor& known : kFlavors) {
    if (known.flavor != flavor || (!name.empty() && known.name != name)) continue;
    draft.model = built_in_model(known.model);
    draft.notes.push_back(fmt::format("model: {} for the flavor {}", known.model, flavor));
    return;
  }
}

void read_titan_batch(const Fields& fields, const Fields& parallelism, Draft& draft, bool toml) {
  Plan& plan = draft.plan;
  const bool piped = plan.parallel.pipeline > 1;
  if (!toml) {
    draft.length = fields.size("max_context_length");
    const auto step = fields.size("num_tokens_per_train_step");
    const auto pass = fields.size("num_tokens_per_microbatch_per_dp_rank");
    if (!draft.length || !step || !pass) {
      fields.node().fail(
          "must say max_context_length, num_tokens_per_train_step and "
          "num_tokens_per_microbatch_per_dp_rank");
    }
    if (*step % *draft.length != 0 || *pass % *draft.length != 0) {
      fields.node().fail(fmt::format("tokens are no whole sequences of {}", *draft.length));
    }
    draft.sequences = *step / *draft.length;
    plan.micro_batch = *pass / *draft.length;
    if (piped) draft.micro_batches = parallelism.size("num_pp_microbatches");
    return;
  }
  constexpr std::int64_t kUsualLocal = 8;
  constexpr std::int64_t kUsualLength = 2048;
  // Its name before 0.1.
  const std::int64_t older = fields.integer("batch_size", kUsualLocal);
  const std::int64_t local = fields.integer("local_batch_size", older);
  draft.length = fields.integer("seq_len", kUsualLength);
  const auto given = fields.find("global_batch_size");
  const std::int64_t global = given ? given->integer(-1, kMostOfField) : -1;
  draft.sequences = global > 0 ? global : local * plan.parallel.data;
  plan.micro_batch = piped ? parallelism.integer("pipeline_parallel_microbatch_size", 1) : local;
  if (!piped) return;
  if (local % plan.micro_batch != 0) {
    fields.node().fail(
        fmt::format("local_batch_size {} is no multiple of "
                    "pipeline_parallel_microbatch_size {}",
                    local, plan.micro_batch));
  }
  const std::int64_t rounds =
      *draft.sequences / std::max<std::int64_t>(1, local * plan.parallel.data);
  if (rounds > 1) {
    draft.notes.push_back(fmt::format(
        "schedule: one pipeline of all micro-batches; the file fills and drains {} a step",
        rounds));
  }
}

std::int64_t layers_of_part(Node part) {
  std::int64_t layers = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part.at(i).text().starts_with("layers.")) ++layers;
  }
  if (layers == 0) part.fail_unsupported("a part without layers: nothing covers it yet");
  return layers;
}

void read_titan_schedule(const Fields& fields, Draft& draft) {
  Plan& plan = draft.plan;
  if (plan.parallel.pipeline == 1) return;
  plan.schedule.kind =
      fields.choice("pipeline_parallel_schedule", kSchedules, ScheduleKind::kOneForwardOneBackward);
  const bool looped = plan.schedule.kind == ScheduleKind::kInterleaved;
  plan.schedule.chunks = looped ? 2 : 1;
  if (const auto parts = fields.find("module_fqns_per_model_part")) {
    for (std::size_t i = 0; i < parts->size(); ++i) {
      plan.layers.push_back(layers_of_part(parts->at(i)));
    }
    const std::int64_t count = std::ssize(plan.layers);
    if (count % plan.parallel.pipeline != 0) {
      parts->fail(
          fmt::format("{} parts are no multiple of pipeline {}", count, plan.parallel.pipeline));
    }
    plan.schedule.chunks = count / plan.parallel.pipeline;
  } else {
    draft.notes.push_back(fmt::format(
        "layers: even, {} chunks a rank; torchtitan gives the first and the last stage one less",
        plan.schedule.chunks));
  }
}

void read_states(const Fields& fields, Draft& draft, std::int64_t copies, bool routed) {
  Plan& plan = draft.plan;
  const Parallel& degrees = plan.parallel;
  const std::int64_t shared = degrees.data / copies * degrees.context;
  std::string_view word = "NNN";
  if (shared > 1 || (routed && degrees.expert_data() > 1)) {
    static constexpr Named<int> kPolicies[] = {{0, "default"}, {1, "always"}, {2, "never"}};
    const int policy = fields.choice("fsdp_reshard_after_forward", kPolicies, 0);
    const bool again = policy == 1 || (policy == 0 && degrees.pipeline == 1);
    word = copies > 1 ? (again ? "III" : "NII") : (again ? "GGG" : "NGG");
  }
  plan.sharding = sharding_of(word).value();
  if (!plan.sharding.uses(Spread::kInner)) return;
  plan.sharding.group = shared;
  const std::int64_t experts = degrees.expert * degrees.expert_tensor;
  if (routed) {
    plan.sharding.expert_group = std::max<std::int64_t>(1, shared * degrees.tensor / experts);
  }
}

bool has_experts(const Draft& draft, const Given& given) {
  if (given.known_model) return given.known_model->experts.has_value();
  return draft.model && draft.model->experts;
}

void read_titan_degrees(const Fields& fields, Draft& draft, const Given& given,
                        const TitanFile& form) {
  const std::string& file = form.document.name();
  const bool routed = form.toml && has_experts(draft, given);
  Parallel& degrees = draft.plan.parallel;
  degrees.tensor = fields.integer("tensor_parallel_degree", 1);
  degrees.context = fields.integer("context_parallel_degree", 1);
  degrees.pipeline = fields.integer("pipeline_parallel_degree", 1);
  degrees.expert = fields.integer("expert_parallel_degree", 1);
  // Up to 0.2.2 experts are split as the rest where they are not parallel themselves.
  degrees.expert_tensor = degrees.expert > 1 ? fields.integer("expert_tensor_parallel_degree", 1)
                          : routed           ? degrees.tensor
                                             : 1;
  const std::int64_t copies = fields.integer("data_parallel_replicate_degree", 1);
  const auto shards = fields.find("data_parallel_shard_degree");
  const std::int64_t share = shards ? shards->integer(-1, kMostOfField) : -1;
  if (share > 0) {
    draft.ranks = copies * share * degrees.tensor * degrees.context * degrees.pipeline;
  }
  settle_ranks(draft, given, file);
  if (degrees.data % copies != 0) {
    fields.find("data_parallel_replicate_degree")
        ->fail(fmt::format("must divide {} data-parallel ranks", degrees.data));
  }
}

void read_titan_recompute(const Fields& root, Draft& draft) {
  const Fields fields = root.section("activation_checkpoint");
  const std::string call = fields.word("()", "");
  static constexpr std::array<std::string_view, 4> kModes = {"none", "full", "selective",
                                                             "memory_budget"};
  std::string mode = fields.word("mode", root.has("activation_checkpoint") ? "selective" : "none");
  if (call.starts_with("FullAC")) mode = "full";
  if (std::ranges::find(kModes, mode) == kModes.end()) {
    fields.find("mode")->fail(fmt::format("must be one of {}", fmt::join(kModes, ", ")));
  }
  Recompute& recompute = draft.plan.recompute;
  if (mode == "full") recompute.kind = RecomputeKind::kFull;
  if (mode == "none" || mode == "full") return;
  const std::string option = fields.word("selective_ac_option", "2");
  if (mode == "selective" && option != "op") {
    const IntegerReading every = read_integer(option);
    if (every.status != IntegerReading::Status::kGood || every.value < 1) {
      fields.find("selective_ac_option")->fail("must be op, or so many layers as '2'");
    }
    recompute = {.kind = RecomputeKind::kEvery, .every = every.value};
    return;
  }
  recompute = {.kind = RecomputeKind::kEvery, .every = 2};
  draft.notes.push_back(
      "recompute: every second layer stands for recomputation by operator, which no plan says");
}

void read_titan_precision(const Fields& root, Draft& draft) {
  static constexpr Named<DType> kTypes[] = {{DType::kBf16, "bfloat16"}, {DType::kFp32, "float32"}};
  const Fields fields = root.section("training");
  draft.precision = fields.choice("mixed_precision_param", kTypes, DType::kBf16);
  draft.plan.accumulate = DType::kFp32;
  const auto converters = root.section("model").find("converters");
  std::vector<std::string> words;
  if (converters && converters->is_scalar()) words.push_back(converters->text());
  for (std::size_t i = 0; converters && converters->is_sequence() && i < converters->size(); ++i) {
    words.push_back(converters->at(i).text());
  }
  for (const std::string& word : words) {
    if (word.find("mx") != std::string::npos) {
      draft.precision = DType::kMxfp8;
    } else if (word.find("float8") != std::string::npos) {
      draft.precision = DType::kFp8;
    } else if (!word.empty()) {
      draft.notes.push_back(fmt::format("not read: converter {}", word));
    }
  }
  static constexpr Named<Optimizer> kWords[] = {{Optimizer::kAdamW, "AdamW"},
                                                {Optimizer::kAdam, "Adam"}};
  draft.optimizer = root.section("optimizer").choice("name", kWords, Optimizer::kAdamW);
}

void read_titan_overlap(const Fields& root, const Fields& fields, Draft& draft) {
  Plan& plan = draft.plan;
  plan.sequence_parallel =
      plan.parallel.tensor > 1 && fields.flag("enable_sequence_parallel", true);
  plan.tensor_input = TensorInput::kKeep;
  plan.context_kind =
      fields.choice("context_parallel_rotate_method", kRotateMethods, ContextKind::kAllGather);
  plan.overlap.tensor_gradients = false;
  plan.overlap.tensor = fields.flag("enable_async_tensor_parallel", false) ||
                        root.section("compile").flag("enable_async_tensor_parallel", false);
  static constexpr Named<Dispatcher> kWords[] = {{Dispatcher::kAllToAll, "standard"},
                                                 {Dispatcher::kOncePerNode, "deepep"}};
  draft.dispatcher = fields.choice("expert_parallel_comm_backend", kWords, Dispatcher::kAllToAll);
  plan.collectives = {};
}

constexpr std::array<std::string_view, 20> kParallelKeys = {"data_parallel_replicate_degree",
                                                            "data_parallel_shard_degree",
                                                            "fsdp_reshard_after_forward",
                                                            "tensor_parallel_degree",
                                                            "enable_async_tensor_parallel",
                                                            "enable_sequence_parallel",
                                                            "pipeline_parallel_degree",
                                                            "pipeline_parallel_schedule",
                                                            "pipeline_parallel_microbatch_size",
                                                            "num_pp_microbatches",
                                                            "module_fqns_per_model_part",
                                                            "context_parallel_degree",
                                                            "context_parallel_rotate_method",
                                                            "expert_parallel_degree",
                                                            "expert_tensor_parallel_degree",
                                                            "expert_parallel_comm_backend",
                                                            "()"};
constexpr std::array<std::string_view, 7> kParallelPassed = {
    "disable_loss_parallel",
    "context_parallel_load_balancer",
    "pipeline_parallel_schedule_csv",
    "pipeline_parallel_layers_per_stage",
    "pipeline_parallel_first_stage_less_layers",
    "pipeline_parallel_last_stage_less_layers",
    "pipeline_parallel_expert_parallel_overlap"};
constexpr std::array<std::string_view, 11> kTrainingKeys = {"local_batch_size",
                                                            "batch_size",
                                                            "global_batch_size",
                                                            "seq_len",
                                                            "mixed_precision_param",
                                                            "mixed_precision_reduce",
                                                            "num_tokens_per_train_step",
                                                            "max_context_length",
                                                            "num_tokens_per_microbatch_per_dp_rank",
                                                            "enable_cpu_offload",
                                                            "()"};
constexpr std::array<std::string_view, 10> kTrainingPassed = {
    "dataset", "dataset_path", "max_norm",   "steps",   "dtype",
    "gc_freq", "gc_debug",     "dataloader", "compile", "deterministic"};

}  // namespace

std::string write_torchtitan(const PlannedJob& planned, const std::vector<std::string>& header) {
  const bool toml = is_toml(planned);
  refuse_what_no_release_says(planned, toml);
  std::vector<std::string> lines = header;
  if (flavor_of(planned.job.model_name) == nullptr && !header.empty()) {
    lines.push_back(fmt::format("note: torchtitan has no flavor {}: register one with these sizes",
                                planned.job.model_name));
  }
  if (!toml) return comment_lines(lines) + python_text(planned);
  std::vector<Section> sections = {model_section(planned), training(planned, true),
                                   parallelism(planned, true), checkpointing(planned.plan)};
  Section optimizer{"optimizer"};
  optimizer.values.set("name", planned.job.optimizer == Optimizer::kAdam ? "Adam" : "AdamW");
  sections.push_back(optimizer);
  if (planned.plan.overlap.tensor && planned.plan.parallel.tensor > 1) {
    Section compile{"compile"};
    compile.values.set("enable", true);
    sections.push_back(compile);
  }
  return comment_lines(lines) + toml_text(sections);
}

void read_torchtitan(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  if (files.size() != 1) fail_input("torchtitan: one file is read at a time");
  const TitanFile file = read_form(files.front());
  if (file.toml && draft.framework.version.empty()) draft.framework.version = "0.2.2";
  const Fields root(file.document.root());
  const Fields parallelism = root.section("parallelism");
  const Fields training = root.section("training");
  for (const auto& note : {unread_keys(parallelism.node(), kParallelKeys, kParallelPassed),
                           unread_keys(training.node(), kTrainingKeys, kTrainingPassed)}) {
    if (note) draft.notes.push_back(*note);
  }
  if (training.flag("enable_cpu_offload", false)) {
    training.find("enable_cpu_offload")
        ->fail_unsupported("offload is known but nothing covers it yet");
  }
  read_model_name(root, file.toml, draft, given);
  read_titan_degrees(parallelism, draft, given, file);
  read_titan_schedule(parallelism, draft);
  read_titan_batch(training, parallelism, draft, file.toml);
  read_states(parallelism, draft, parallelism.integer("data_parallel_replicate_degree", 1),
              has_experts(draft, given));
  read_titan_recompute(root, draft);
  read_titan_precision(root, draft);
  read_titan_overlap(root, parallelism, draft);
}

}  // namespace stepwright
