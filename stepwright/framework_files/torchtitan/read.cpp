#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/framework_files/fields.h"
#include "stepwright/framework_files/syntax/python_call.h"
#include "stepwright/framework_files/syntax/toml.h"
#include "stepwright/framework_files/torchtitan/settings.h"
#include "stepwright/framework_files/torchtitan/torchtitan.h"
#include "stepwright/framework_files/torchtitan/words.h"
#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

/// The file in one form: sections of the TOML file are the arguments of the newer function.
struct TitanFile {
  Document document;
  bool toml = true;
};

TitanFile read_form(const SourceFile& file, const Given& given) {
  if (!file.name.ends_with(".py") && file.text.find("Trainer.Config(") == std::string::npos) {
    return {with_settings(parse_toml(file.text, file.name), given), true};
  }
  return {with_settings(read_python_call(file.text, "Trainer.Config", file.name, "model_registry"),
                        given),
          false};
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
  for (const TitanFlavor& known : kTitanFlavors) {
    if (known.flavor != flavor || (!name.empty() && known.name != name)) continue;
    draft.model = built_in_model(known.model);
    draft.notes.push_back(
        fmt::format("The flavor {1} is taken to be the model {0}.", known.model, flavor));
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
    draft.notes.push_back(
        fmt::format("The schedule is one pipeline of all micro-batches; the file fills and drains "
                    "{} of them per step.",
                    rounds));
  }
}

std::int64_t layers_of_part(Node part, bool end) {
  std::int64_t layers = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part.at(i).text().starts_with("layers.")) ++layers;
  }
  if (layers == 0 && !end) {
    part.fail_unsupported("a part without layers, embedding and output: nothing covers it yet");
  }
  return layers;
}

void read_titan_schedule(const Fields& fields, Draft& draft) {
  Plan& plan = draft.plan;
  if (plan.parallel.pipeline == 1) return;
  plan.schedule.kind = fields.choice("pipeline_parallel_schedule", kTitanSchedules,
                                     ScheduleKind::kOneForwardOneBackward);
  plan.schedule.chunks = chunks_of(plan.schedule.kind, {2}).front();
  if (const auto parts = fields.find("module_fqns_per_model_part")) {
    for (std::size_t i = 0; i < parts->size(); ++i) {
      const bool end = i == 0 || i + 1 == parts->size();
      plan.layers.push_back(layers_of_part(parts->at(i), end));
    }
    const std::int64_t count = std::ssize(plan.layers);
    if (count % plan.parallel.pipeline != 0) {
      parts->fail(
          fmt::format("{} parts are no multiple of pipeline {}", count, plan.parallel.pipeline));
    }
    plan.schedule.chunks = count / plan.parallel.pipeline;
  } else {
    draft.notes.push_back(
        fmt::format("Layers are split evenly over {} chunks of a rank; torchtitan gives the first "
                    "and the last stage one less.",
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
      "Recomputation by operator, which a plan cannot say, is taken as that of every second "
      "layer.");
}

void read_titan_precision(const Fields& root, Draft& draft) {
  static constexpr Named<DType> kTypes[] = {{DType::kBf16, "bfloat16"}, {DType::kFp32, "float32"}};
  const Fields fields = root.section("training");
  draft.precision = fields.choice("mixed_precision_param", kTypes, DType::kBf16);
  draft.framework_gradients = true;
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
      draft.notes.push_back(fmt::format("The converter {} was not read.", word));
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
  plan.context_kind =
      fields.choice("context_parallel_rotate_method", kRotateMethods, ContextKind::kAllGather);
  draft.framework_overlap = true;
  plan.overlap.tensor = fields.flag("enable_async_tensor_parallel", false) ||
                        root.section("compile").flag("enable_async_tensor_parallel", false);
  static constexpr Named<Dispatcher> kWords[] = {{Dispatcher::kAllToAll, "standard"},
                                                 {Dispatcher::kOncePerNode, "deepep"}};
  draft.dispatcher = fields.choice("expert_parallel_comm_backend", kWords, Dispatcher::kAllToAll);
  plan.collectives = {};
}

}  // namespace

void read_torchtitan(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  if (files.size() != 1) fail_input("torchtitan: one file is read at a time");
  const TitanFile file = read_form(files.front(), given);
  if (file.toml && draft.framework.version.empty()) draft.framework.version = "0.2.2";
  const Fields root(file.document.root());
  const Fields parallelism = root.section("parallelism");
  const Fields training = root.section("training");
  read_model_name(root, file.toml, draft, given);
  read_titan_degrees(parallelism, draft, given, file);
  read_titan_schedule(parallelism, draft);
  read_titan_batch(training, parallelism, draft, file.toml);
  read_states(parallelism, draft, parallelism.integer("data_parallel_replicate_degree", 1),
              has_experts(draft, given));
  read_titan_recompute(root, draft);
  read_titan_precision(root, draft);
  read_titan_overlap(root, parallelism, draft);
  list_settings(root, files.front().name, kTitanSettings, draft.report);
}

bool is_torchtitan(const SourceFile& file) {
  return holds(file, "[parallelism]") || holds(file, "[training]") ||
         holds(file, "Trainer.Config(");
}

}  // namespace stepwright
