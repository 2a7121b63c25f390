#include "stepwright/plan/choices/read_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "stepwright/core/nearest.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

/// Upper limit of a chunk's duration: one hour for one micro-batch.
constexpr std::int64_t kMostNanoseconds = 3'600'000'000'000;

/// Fails with `kUnsupported` if a word is known to the schema but no code covers it.
template <class Words, class Name = std::identity>
void refuse_future(DocumentNode node, const Words& future, Name name = {}) {
  if (!node.is_scalar() || std::ranges::find(future, node.text(), name) == std::end(future)) return;
  node.fail_unsupported(fmt::format("{} is known but not supported yet", node.text()));
}

/// True if a scalar is one of the words for "not used".
bool says_no(DocumentNode node) {
  if (!node.is_scalar()) return false;
  const std::string word = node.text();
  return word == "false" || word == "none";
}

}  // namespace

void check_allowed_keys(DocumentNode node,
                        std::initializer_list<std::span<const std::string_view>> lists) {
  std::vector<std::string_view> keys;
  for (const auto list : lists) {
    for (const std::string_view key : list) keys.push_back(key);
  }
  node.allow_only_keys(keys);
}

double require_positive_value(DocumentNode node, double value) {
  if (value == 0) node.fail("must be above 0");
  return value;
}

void fail_unknown_word(DocumentNode node, std::span<const std::string_view> known) {
  node.fail(fmt::format("must be one of {}; it is '{}'{}", join_with_commas(known),
                        one_line_printable_text(node.text()), spelling_hint(node.text(), known)));
}

std::int64_t read_positive_number(DocumentNode node) {
  return node.integer(1, cluster::kMaxClusterDevices);
}

std::int64_t read_bucket_size(DocumentNode node) { return node.integer(0, kMaxPlanFileCount); }

std::int64_t read_nanoseconds(DocumentNode node) { return node.integer(0, kMostNanoseconds); }

bool read_flag(DocumentNode node) { return node.boolean(); }

std::int64_t read_sharding_group(DocumentNode node) {
  if (node.is_number()) return read_positive_number(node);
  if (node.is_scalar() && node.text() == "node") return kNodeSizedShardingGroup;
  node.fail(fmt::format("must be an integer from 1 to {} or 'node'", cluster::kMaxClusterDevices));
}

schedule::PipelineScheduleKind read_schedule_kind(DocumentNode node) {
  const schedule::PipelineScheduleKind kind = node.choice(schedule::kScheduleKindNames);
  if (!schedule::traits_of(kind).runs) {
    node.fail_unsupported(
        "dualpipe places every chunk on two positions, which is not supported; use dualpipev, the "
        "same order on half the positions");
  }
  return kind;
}

std::int64_t read_micro_batch_stream_count(DocumentNode node) {
  const std::int64_t strands = read_positive_number(node);
  if (strands > 2) node.fail(fmt::format("must be 1 or 2; it is {}", strands));
  return strands;
}

Sharding read_state_sharding(DocumentNode node, const PlanFileReading& reading) {
  const std::string word = node.text();
  const std::optional<Sharding> sharding = sharding_named_by_word(word);
  if (!sharding || !is_paro_strategy(*sharding)) {
    std::vector<std::string> words;
    for (const Sharding& strategy : paro_strategies()) words.push_back(sharding_letters(strategy));
    std::vector<std::string_view> known(words.begin(), words.end());
    for (const ShardingAlias& alias : kShardingAliases) known.push_back(alias.name);
    if (sharding) {
      node.fail(
          fmt::format("{} is not a strategy: optimizer states are split at least as finely as "
                      "parameters and gradients (one of {})",
                      word, join_with_commas(known)));
    }
    fail_unknown_word(node, known);
  }
  const auto alias = std::ranges::find(kShardingAliases, word, &ShardingAlias::name);
  if (alias != std::ranges::end(kShardingAliases) && !alias->note.empty()) {
    reading.notes.emplace_back(alias->note);
  }
  return *sharding;
}

namespace {

RecomputeModuleSet read_modules(DocumentNode node) {
  RecomputeModuleSet modules;
  if (!node.is_sequence() || node.size() == 0) node.fail("must be a list of modules");
  for (std::size_t i = 0; i < node.size(); ++i) modules.add(node.at(i).choice(kModuleNames));
  return modules;
}

/// Reads the mapping from pipeline positions to their recomputation.
std::vector<StageRecompute> read_stages(DocumentNode node) {
  if (!node.is_mapping() || node.size() == 0) {
    node.fail("must name positions of the pipeline and what each recomputes, as in {0: full}");
  }
  std::vector<StageRecompute> stages;
  for (const auto& [key, value] : node.mapping_members()) {
    const IntegerParseResult at = read_integer(key);
    const bool good = at.status == IntegerParseResult::IntegerParseStatus::kGood;
    if (!good || at.value < 0 || at.value >= cluster::kMaxClusterDevices) {
      value.fail(fmt::format("stages are positions of the pipeline, from 0; it is '{}'", key));
    }
    if (std::ranges::find(stages, at.value, &StageRecompute::position) != stages.end()) {
      value.fail(fmt::format("names stage {} a second time", at.value));
    }
    const ActivationRecomputation own = read_recompute(value);
    if (!own.stages.empty()) value.fail("is of one stage: it has no stages itself");
    stages.push_back({at.value, own.kind, own.every, own.first, own.modules});
  }
  std::ranges::sort(stages, {}, &StageRecompute::position);
  return stages;
}

ActivationRecomputation read_recompute_mapping(DocumentNode node) {
  node.allow_only_keys({"every", "first", "modules", "stages"});
  const auto every = node.find("every");
  const auto first = node.find("first");
  const auto modules = node.find("modules");
  const auto stages = node.find("stages");
  if (!every && !first && !modules && !stages) {
    node.fail("must name every, first, modules, stages or several");
  }
  if (every && first)
    first->fail("cannot be given together with every: both state which layers are recomputed");
  ActivationRecomputation recompute;
  if (every) recompute = {.kind = RecomputeKind::kEvery, .every = read_positive_number(*every)};
  if (first) recompute = {.kind = RecomputeKind::kEvery, .first = read_positive_number(*first)};
  if (modules) recompute.kind = RecomputeKind::kModules;
  if (modules) recompute.modules = read_modules(*modules);
  if (!stages) return recompute;
  // With `stages`, full and selective recomputation can be written only as `every: 1` and as the
  // module of the core; they are read as the words `full` and `selective`.
  if (recompute == ActivationRecomputation{.kind = RecomputeKind::kEvery})
    recompute = {RecomputeKind::kFull};
  if (!recomputes_some_layers(recompute) &&
      parts_recomputed_in_layers(recompute) == kCoreRecompute) {
    recompute = {RecomputeKind::kSelective};
  }
  recompute.stages = read_stages(*stages);
  return recompute;
}

}  // namespace

ActivationRecomputation read_recompute(DocumentNode node) {
  static constexpr std::string_view kPerOperatorWord =
      name_of(kModuleNames, RecomputeModule::kPerOperator);
  if (node.is_mapping()) return read_recompute_mapping(node);
  if (!node.is_scalar())
    node.fail(
        "must be none, selective, full, per-operator, {every: n}, {first: n}, {modules: [...]} or "
        "{stages: {0: full}}");
  const std::string word = node.text();
  if (word == kPerOperatorWord) return {.kind = RecomputeKind::kModules, .modules = kPerOperator};
  static constexpr std::string_view kWords[] = {"none",
                                                "selective",
                                                "full",
                                                kPerOperatorWord,
                                                "{every: n}",
                                                "{first: n}",
                                                "{modules: [...]}",
                                                "{stages: {0: full}}"};
  for (const RecomputeKind kind :
       {RecomputeKind::kNone, RecomputeKind::kSelective, RecomputeKind::kFull}) {
    if (word == name_of(kRecomputeNames, kind)) return {.kind = kind};
  }
  fail_unknown_word(node, kWords);
}

OverlapFlags read_overlap_flags_or_defaults(DocumentNode node) {
  return read_overlap_flags(node, OverlapFlags());
}

OverlapFlags read_overlap_flags(DocumentNode node, const OverlapFlags& usual) {
  if (node.is_scalar()) return all_overlap_flags(node.boolean());
  std::vector<std::string_view> keys;
  for (const auto& [flag, name] : kOverlapFlagNames) keys.push_back(name);
  node.allow_only_keys(keys);
  OverlapFlags overlap = usual;
  for (const auto& [flag, name] : kOverlapFlagNames) {
    if (const auto given = node.find(name)) overlap.*flag = given->boolean();
  }
  return overlap;
}

collective::CollectiveAlgorithm read_collective_algorithm(DocumentNode node,
                                                          const PlanFileReading& reading) {
  const collective::CollectiveAlgorithm algorithm =
      node.choice(collective::kCollectiveAlgorithmNames);
  const bool least = reading.version == PlanFileVersion::kOne &&
                     algorithm == collective::CollectiveAlgorithm::kRing;
  return least ? collective::CollectiveAlgorithm::kLibrary : algorithm;
}

void reject_pipeline_algorithm(DocumentNode collectives, const PlanFileReading& reading) {
  const auto word = collectives.find("pipeline");
  if (!word ||
      read_collective_algorithm(*word, reading) == collective::CollectiveAlgorithm::kLibrary)
    return;
  word->fail(fmt::format("must be library: transfers of a pipeline are sent one by one; it is '{}'",
                         word->text()));
}

RankOrder read_rank_order(DocumentNode node) {
  const std::string word = node.text();
  if (const auto order = parse_rank_order(word)) return *order;
  node.fail(
      fmt::format("must name tp, cp, ep, dp and pp once each, fastest first, as in "
                  "tp-cp-ep-dp-pp; it is '{}'",
                  word));
}

std::vector<std::int64_t> read_chunk_layers(DocumentNode node) {
  if (node.is_scalar() && node.text() == "even") return {};
  if (!node.is_sequence() || node.size() == 0) {
    node.fail("must be 'even' or the layers of each chunk in model order, as in [40, 40]");
  }
  std::vector<std::int64_t> layers;
  for (std::size_t i = 0; i < node.size(); ++i) {
    layers.push_back(node.at(i).integer(0, model::kMaxModelLayers));
  }
  return layers;
}

double read_share_or_none(DocumentNode node) {
  if (says_no(node)) return 0;
  return node.number(0, 1);
}

OffloadModuleSet read_offload_modules(DocumentNode node) {
  OffloadModuleSet modules;
  if (says_no(node)) return modules;
  if (!node.is_sequence()) node.fail("must be a list of modules, as in [qkv_linear, moe_act]");
  for (std::size_t i = 0; i < node.size(); ++i) modules.add(node.at(i).choice(kOffloadModuleNames));
  return modules;
}

void check_offload_value(DocumentNode node, std::span<const std::string_view> parts) {
  if (says_no(node)) return;
  if (!node.is_mapping()) {
    node.fail("must state what lies in host memory, as in {optimizer: 0.5}");
  }
  node.allow_only_keys(parts);
}

void check_file_version(DocumentNode root, std::string_view version) {
  const DocumentNode given = root.get("stepwright");
  if (given.text() == version) return;
  given.fail(fmt::format("must be {}; it is '{}'", version, one_line_printable_text(given.text())));
}

void require_mapping_keys(DocumentNode node, std::initializer_list<std::string_view> keys) {
  std::vector<std::string_view> absent;
  for (const std::string_view key : keys) {
    if (!node.find(key)) absent.push_back(key);
  }
  if (absent.size() > 1)
    node.fail(fmt::format("the keys {} are missing", join_with_commas(absent)));
  if (absent.size() == 1) node.fail(fmt::format("the key '{}' is missing", absent.front()));
}

PlanFileVersion read_stepwright_file_version(DocumentNode root, std::string_view kind) {
  if (!root.find("stepwright")) {
    root.fail(fmt::format("the key 'stepwright' is missing: begin with `stepwright: {}/2`", kind));
  }
  const DocumentNode given = root.get("stepwright");
  for (const PlanFileVersion version : {PlanFileVersion::kOne, PlanFileVersion::kTwo}) {
    if (given.text() == fmt::format("{}/{}", kind, static_cast<int>(version))) return version;
  }
  given.fail(fmt::format("must be {0}/2 or {0}/1; it is '{1}'", kind,
                         one_line_printable_text(given.text())));
}

}  // namespace stepwright::plan
