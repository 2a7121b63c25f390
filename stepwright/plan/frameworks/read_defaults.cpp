#include "stepwright/plan/frameworks/read_defaults.h"

#include <optional>

#include "stepwright/cluster/generation.h"
#include "stepwright/core/quantity.h"
#include "stepwright/plan/choices/read_choices.h"
#include "stepwright/plan/overlap_table.h"

namespace stepwright::plan {
namespace {

constexpr double kMostShare = 10;
constexpr double kMostSubGroup = 1e15;  // parameters

/// Reads a mapping from device generations to attention kernels.
decltype(FrameworkDefaults::attention) kernels_of_generations(DocumentNode node) {
  decltype(FrameworkDefaults::attention) kernels;
  for (const auto& [name, kernel] : node.mapping_members()) {
    kernels.emplace_back(&cluster::find_device_generation(name, kernel),
                         kernel.choice(cluster::kAttentionKernelNames));
  }
  return kernels;
}

DefaultSetting deterministic_attention(DocumentNode node) {
  const auto kernels = kernels_of_generations(node);
  return [kernels](FrameworkDefaults& defaults) { defaults.deterministic_attention = kernels; };
}

/// Reads attention kernels: one for all devices, or one for each of some generations and one for
/// other devices.
DefaultSetting attention(DocumentNode node) {
  const DocumentNode others =
      node.is_mapping() ? node.get(cluster::kFallbackDeviceGenerationName) : node;
  const cluster::AttentionKernel usual = others.choice(cluster::kAttentionKernelNames);
  const auto kernels =
      node.is_mapping() ? kernels_of_generations(node) : decltype(FrameworkDefaults::attention){};
  return [usual, kernels](FrameworkDefaults& defaults) {
    defaults.kernels.attention = usual;
    defaults.attention = kernels;
  };
}

DefaultSetting selects(DocumentNode node) {
  WordSet kernels;
  for (std::size_t i = 0; i < node.size(); ++i) {
    kernels.set(static_cast<std::size_t>(node.at(i).choice(cluster::kAttentionKernelNames)));
  }
  return [kernels](FrameworkDefaults& defaults) { defaults.selects = kernels; };
}

/// Reads {logits: any, gradients: 0}: the number of chunks that files can give a loss that keeps
/// these tensors.
DefaultSetting losses(DocumentNode node) {
  std::vector<std::string_view> known;
  for (const auto& [keeps, name] : kLossSavedTensorsNames) known.push_back(name);
  node.allow_only_keys(known);
  std::map<LossSavedTensors, std::optional<std::int64_t>> losses;
  for (const auto& [keeps, name] : kLossSavedTensorsNames) {
    const auto chunks = node.find(name);
    if (!chunks) continue;
    losses[keeps] =
        chunks->text() == "any" ? std::nullopt : std::optional(chunks->integer(0, kMostLossChunks));
  }
  return [losses](FrameworkDefaults& defaults) { defaults.losses = losses; };
}

template <class Member, std::size_t kCount>
std::vector<std::string_view> names_in(const Named<Member> (&table)[kCount]) {
  std::vector<std::string_view> names;
  for (const auto& [member, name] : table) names.push_back(name);
  return names;
}

DefaultSetting kernels(DocumentNode node) {
  std::vector<std::string_view> keys = names_in(kKernelFlagNames);
  keys.insert(keys.end(), {"casts", "masters", "loss_chunks", "loss_keeps", "expert_weights"});
  node.allow_only_keys(keys);
  std::optional<LowPrecisionCastScaling> casts;
  if (const auto word = node.find("casts")) casts = word->choice(kCastScalingNames);
  std::optional<MasterWeights> masters;
  if (const auto word = node.find("masters")) masters = word->choice(kMasterWeightsNames);
  std::optional<std::int64_t> chunks;
  if (const auto count = node.find("loss_chunks")) chunks = count->integer(0, kMostLossChunks);
  std::optional<LossSavedTensors> keeps;
  if (const auto word = node.find("loss_keeps")) keeps = word->choice(kLossSavedTensorsNames);
  std::optional<RouterWeightPlacement> weights;
  if (const auto word = node.find("expert_weights")) weights = word->choice(kExpertWeightsNames);
  std::vector<std::pair<bool FrameworkKernels::*, bool>> given;
  for (const auto& [flag, name] : kKernelFlagNames) {
    if (const auto value = node.find(name)) given.emplace_back(flag, value->boolean());
  }
  return [=](FrameworkDefaults& defaults) {
    if (casts) defaults.kernels.casts = *casts;
    if (masters) defaults.kernels.masters = *masters;
    if (chunks) defaults.kernels.loss_chunks = *chunks;
    if (keeps) defaults.kernels.loss_keeps = *keeps;
    if (weights) defaults.kernels.expert_weights = *weights;
    for (const auto& [flag, value] : given) defaults.kernels.*flag = value;
  };
}

DefaultSetting overlap(DocumentNode node) {
  node.allow_only_keys(names_in(kOverlapFlagNames));
  std::vector<std::pair<std::size_t, FrameworkDefaultCondition>> given;
  for (std::size_t i = 0; i < std::size(kOverlapFlagNames); ++i) {
    const auto value = node.find(kOverlapFlagNames[i].name);
    if (value) given.emplace_back(i, value->choice(kCircumstanceNames));
  }
  return [given](FrameworkDefaults& defaults) {
    for (const auto& [place, when] : given) defaults.overlap[place] = when;
  };
}

/// Reads a word of a table into a member.
template <auto kMember, const auto& kTable>
DefaultSetting word(DocumentNode node) {
  const auto value = node.choice(kTable);
  return [value](FrameworkDefaults& defaults) { defaults.*kMember = value; };
}

/// Reads true or false into a member.
template <bool FrameworkDefaults::* kMember>
DefaultSetting flag(DocumentNode node) {
  const bool on = node.boolean();
  return [on](FrameworkDefaults& defaults) { defaults.*kMember = on; };
}

constexpr Named<bool> kGradientNames[] = {{false, "fp32"}, {true, "stored"}};

DefaultSetting bucket(DocumentNode node) {
  const auto bytes = static_cast<std::int64_t>(
      read_quantity(node, QuantityKind::kBytes, 1, static_cast<double>(kMaxPlanFileCount)));
  return [bytes](FrameworkDefaults& defaults) { defaults.bucket_bytes = bytes; };
}

DefaultSetting recipe(DocumentNode node) {
  node.allow_only_keys({"sharding", "sequence_parallel"});
  Notes notes;
  const Sharding sharding =
      read_state_sharding(node.get("sharding"), {PlanFileVersion::kTwo, notes});
  const bool sequence_parallel = node.get("sequence_parallel").boolean();
  return [=](FrameworkDefaults& defaults) {
    defaults.recipe_sharding = sharding;
    defaults.recipe_sequence_parallel = sequence_parallel;
  };
}

DefaultSetting memory(DocumentNode node) {
  node.allow_only_keys({"evidence", "share", "parameter_share", "optimizer_share",
                        "narrow_gradients", "sub_group_parameters"});
  FrameworkMemoryMargins margins;
  const auto read = [node](std::string_view key, double& share) {
    if (const auto given = node.find(key)) share = given->number(0, kMostShare);
  };
  margins.evidence = node.get("evidence").choice(kMemoryEvidenceNames);
  read("share", margins.share);
  read("parameter_share", margins.parameter_share);
  read("optimizer_share", margins.optimizer_share);
  read("narrow_gradients", margins.narrow_gradients);
  if (const auto given = node.find("sub_group_parameters")) {
    margins.sub_group_parameters = given->number(0, kMostSubGroup);
  }
  return [margins](FrameworkDefaults& defaults) { defaults.memory = margins; };
}

DefaultSetting holds(DocumentNode node) {
  WordSet held;
  for (std::size_t i = 0; i < node.size(); ++i) {
    held.set(static_cast<std::size_t>(node.at(i).choice(kHeldMemoryNames)));
  }
  return [held](FrameworkDefaults& defaults) { defaults.holds |= held; };
}

DefaultSetting apart(DocumentNode node) {
  WordSet apart;
  for (std::size_t i = 0; i < node.size(); ++i) {
    apart.set(static_cast<std::size_t>(node.at(i).choice(kUnfusedWorkNames)));
  }
  return [apart](FrameworkDefaults& defaults) { defaults.apart |= apart; };
}

std::vector<FrameworkDefaultCondition> read_circumstances(DocumentNode variable,
                                                          std::string_view key) {
  std::vector<FrameworkDefaultCondition> list;
  const auto given = variable.find(key);
  for (std::size_t i = 0; given && i < given->size(); ++i) {
    list.push_back(given->at(i).choice(kCircumstanceNames));
  }
  return list;
}

DefaultSetting environment(DocumentNode node) {
  node.allow_only_keys({"name", "value", "when", "unless", "reason"});
  FrameworkEnvironmentVariable variable{.name = node.get("name").text(),
                                        .value = node.get("value").text(),
                                        .when = read_circumstances(node, "when"),
                                        .unless = read_circumstances(node, "unless"),
                                        .reason = node.get("reason").text()};
  return [variable](FrameworkDefaults& defaults) { defaults.environment.push_back(variable); };
}

DefaultSetting host_overhead(DocumentNode node) {
  node.allow_only_keys({"tensor", "data"});
  const auto seconds = [node](std::string_view key) {
    return read_quantity(node.get(key), QuantityKind::kTime, 0, 1);
  };
  const MessageHostOverhead host_overhead{.tensor_s = seconds("tensor"), .data_s = seconds("data")};
  return [host_overhead](FrameworkDefaults& defaults) { defaults.host_overhead = host_overhead; };
}

DefaultSetting host_share_of(DocumentNode node) {
  const double share = node.number(0, kMostShare);
  return [share](FrameworkDefaults& defaults) { defaults.host_share = share; };
}

/// Reads {process: 2.38e9, workers: 2, worker: 70e6}: bytes of a rank's host process, its data
/// workers and their bytes.
DefaultSetting host_processes(DocumentNode node) {
  node.allow_only_keys({"process", "workers", "worker"});
  constexpr double kMostProcessBytes = 1e12;
  const auto bytes = [node](std::string_view key) {
    const auto given = node.find(key);
    return given ? read_quantity(*given, QuantityKind::kBytes, 0, kMostProcessBytes) : 0;
  };
  const double process = bytes("process");
  const double worker = bytes("worker");
  const auto given = node.find("workers");
  const std::int64_t workers = given ? given->integer(0, kMaxHostOptimizerThreads) : 0;
  return [=](FrameworkDefaults& defaults) {
    defaults.host_process_bytes = process;
    defaults.host_workers = workers;
    defaults.host_worker_bytes = worker;
  };
}

/// Reads {whole: each, sharded: first}: the ranks that load a checkpoint.
DefaultSetting loading(DocumentNode node) {
  node.allow_only_keys({"whole", "sharded"});
  const HostLoading loading{.whole = node.get("whole").choice(kCheckpointLoadingRanksNames),
                            .sharded = node.get("sharded").choice(kCheckpointLoadingRanksNames)};
  return [loading](FrameworkDefaults& defaults) { defaults.loading = loading; };
}

/// Reads the remedies of a framework, as {host_optimizer: "--optimizer-cpu-offload"}.
DefaultSetting remedies(DocumentNode node) {
  node.allow_only_keys(names_in(kRemedyKindNames));
  std::map<MemoryRemedyKind, std::string> words;
  for (const auto& [kind, name] : kRemedyKindNames) {
    if (const auto word = node.find(name)) words[kind] = word->text();
  }
  return [words](FrameworkDefaults& defaults) {
    for (const auto& [kind, word] : words) defaults.remedies[kind] = word;
  };
}

DefaultSetting host_threads_of(DocumentNode node) {
  const std::int64_t threads = node.integer(0, kMaxHostOptimizerThreads);
  return [threads](FrameworkDefaults& defaults) { defaults.host_threads = threads; };
}

DefaultSetting host_passes_of(DocumentNode node) {
  constexpr std::int64_t kMostHostPasses = 10;
  const std::int64_t passes = node.integer(0, kMostHostPasses);
  return [passes](FrameworkDefaults& defaults) { defaults.host_passes = passes; };
}

/// A key of a `defaults:` line, and the function that reads it.
struct DefaultKey {
  std::string_view key;
  DefaultSetting (*read)(DocumentNode node);
};
constexpr DefaultKey kDefaultKeys[] = {
    {"attention", attention},
    {"deterministic_attention", deterministic_attention},
    {"selects", selects},
    {"losses", losses},
    {"kernels", kernels},
    {"latent_optimizer", word<&FrameworkDefaults::latent_optimizer, kOptimizerNames>},
    {"overlap", overlap},
    {"updates_in_place", flag<&FrameworkDefaults::updates_in_place>},
    {"compiles", flag<&FrameworkDefaults::compiles>},
    {"narrow_attention", flag<&FrameworkDefaults::narrow_attention>},
    {"narrow_parameters", flag<&FrameworkDefaults::narrow_parameters>},
    {"joined_adapters", flag<&FrameworkDefaults::joined_adapters>},
    {"local_adapters", flag<&FrameworkDefaults::local_adapters>},
    {"accumulate", word<&FrameworkDefaults::stored_gradients, kGradientNames>},
    {"tensor_input", word<&FrameworkDefaults::tensor_input, kTensorInputNames>},
    {"layers", word<&FrameworkDefaults::layers, kStageSplitNames>},
    {"bucket", bucket},
    {"recipe", recipe},
    {"memory", memory},
    {"holds", holds},
    {"apart", apart},
    {"environment", environment},
    {"handling", host_overhead},
    {"host_threads", host_threads_of},
    {"host_passes", host_passes_of},
    {"host_share", host_share_of},
    {"host_processes", host_processes},
    {"loading", loading},
    {"remedies", remedies}};

/// Writes a value for messages, as "gradients never, pipeline interleaved"; items of a list are
/// joined by "and".
std::string as_written(DocumentNode node) {
  std::string text;
  if (node.is_mapping()) {
    for (const auto& [key, value] : node.mapping_members()) {
      text += (text.empty() ? "" : ", ") + key + " " + as_written(value);
    }
    return text;
  }
  if (!node.is_sequence()) return node.text().empty() ? "unset" : node.text();
  for (std::size_t i = 0; i < node.size(); ++i) {
    text += (text.empty() ? "" : " and ") + as_written(node.at(i));
  }
  return text;
}

}  // namespace

std::string read_source_of_framework_rule(DocumentNode line) {
  std::string source = line.get("source").text();
  if (source.empty()) line.fail("names no source");
  return source;
}

ReleaseRange read_release_range(DocumentNode line) {
  ReleaseRange releases;
  if (const auto from = line.find("from")) releases.from = from->text();
  if (const auto before = line.find("before")) releases.before = before->text();
  return releases;
}

FrameworkDefaultLine read_framework_default_rule(DocumentNode node) {
  std::vector<std::string_view> keys = {"variant", "from", "before", "source"};
  for (const DefaultKey& key : kDefaultKeys) keys.push_back(key.key);
  node.allow_only_keys(keys);
  FrameworkDefaultLine line{.releases = read_release_range(node),
                            .source = read_source_of_framework_rule(node)};
  for (const DefaultKey& key : kDefaultKeys) {
    const auto given = node.find(key.key);
    if (!given) continue;
    line.settings.push_back(key.read(*given));
    line.said.emplace_back(key.key, as_written(*given));
  }
  if (line.settings.empty()) node.fail("says nothing");
  return line;
}

}  // namespace stepwright::plan
