#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/torchtitan/torchtitan.h"
#include "stepwright/framework_files/torchtitan/words.h"
#include "stepwright/plan/frameworks/release.h"

namespace stepwright {
namespace {

bool is_toml(const PlannedJob& planned) {
  const std::string& release = planned.job.framework.version;
  return comes_before(release, kPythonForm);
}

/// Ranks over which parameters are copied; the others of data x context share them.
std::int64_t replicas(const PlannedJob& planned) {
  const Plan& plan = planned.plan;
  const std::int64_t ranks = plan.parallel.data * plan.parallel.context;
  if (plan.sharding.uses(Spread::kInner)) {
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
    if (parts.size() == 1) part.emplace_back("tok_embeddings");
    for (std::int64_t i = 0; i < count; ++i) part.push_back(fmt::format("layers.{}", layer++));
  }
  parts.back().insert(parts.back().end(), {"norm", "output"});
  return parts;
}

void add_pipeline(Tree& values, const PlannedJob& planned, bool toml) {
  const Plan& plan = planned.plan;
  if (plan.parallel.pipeline == 1) return;
  values.set("pipeline_parallel_degree", plan.parallel.pipeline);
  values.set("pipeline_parallel_schedule", name_of(kTitanSchedules, plan.schedule.kind));
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

const TitanFlavor* flavor_of(const std::string& model) {
  const auto* found = std::ranges::find(kTitanFlavors, model, &TitanFlavor::model);
  return found == std::end(kTitanFlavors) ? nullptr : found;
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
  const TitanFlavor* flavor = flavor_of(planned.job.model_name);
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
  const TitanFlavor* flavor = flavor_of(planned.job.model_name);
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

}  // namespace

std::string write_torchtitan(const PlannedJob& planned, const std::vector<std::string>& header) {
  const bool toml = is_toml(planned);
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

}  // namespace stepwright
