#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/plan/modules.h"

namespace stepwright::plan {

enum class RecomputeKind : std::uint8_t { kNone, kSelective, kFull, kEvery, kModules };
inline constexpr Named<RecomputeKind> kRecomputeNames[] = {{RecomputeKind::kNone, "none"},
                                                           {RecomputeKind::kSelective, "selective"},
                                                           {RecomputeKind::kFull, "full"},
                                                           {RecomputeKind::kEvery, "every"},
                                                           {RecomputeKind::kModules, "modules"}};

/// Activation recomputation of one pipeline rank (its index is `position`) that differs from that
/// of the other ranks.
struct StageRecompute {
  std::int64_t position = 0;
  RecomputeKind kind = RecomputeKind::kNone;
  std::int64_t every = 1;
  std::int64_t first = 0;
  RecomputeModuleSet modules;
  auto operator<=>(const StageRecompute&) const = default;
};

/// Activation recomputation of a plan: kind, modules, which layers, and pipeline ranks that differ.
struct ActivationRecomputation {
  RecomputeKind kind = RecomputeKind::kNone;
  /// Distance between recomputed layers: layers 0, n, 2n, ... of each chunk are recomputed, as a
  /// whole (kind kEvery) or their `modules` only (kind kModules).
  std::int64_t every = 1;
  /// Number of layers at the start of each chunk that are recomputed, as a whole (kind kEvery) or
  /// their `modules` only (kind kModules); 0: all.
  std::int64_t first = 0;
  RecomputeModuleSet modules;  ///< Layer parts to recompute, if the kind is kModules.
  /// Pipeline ranks with another recomputation than the rest, ascending.
  std::vector<StageRecompute> stages;
  auto operator<=>(const ActivationRecomputation&) const = default;
};

/// Returns one pipeline rank's own recomputation, as if the whole plan had it.
inline ActivationRecomputation recompute_settings_of_stage(const StageRecompute& stage) {
  return {stage.kind, stage.every, stage.first, stage.modules, {}};
}

/// Returns the recomputation of the layers on one pipeline rank. Code about a layer must call this
/// first, as no other function knows how pipeline ranks differ.
ActivationRecomputation recompute_of_pipeline_rank(const ActivationRecomputation& recompute,
                                                   std::int64_t position);

/// Calls `visit` for each recomputation that occurs on some pipeline rank, the most common first;
/// may visit one twice.
template <class VisitorCallback>
void each_setting(const ActivationRecomputation& recompute, VisitorCallback&& visit) {
  visit(ActivationRecomputation{
      recompute.kind, recompute.every, recompute.first, recompute.modules, {}});
  for (const StageRecompute& stage : recompute.stages) visit(recompute_settings_of_stage(stage));
}

/// Part of one layer that the backward recomputes: everything, some modules, or nothing.
struct LayerRecompute {
  bool whole = false;
  RecomputeModuleSet modules;  ///< Recomputed layer parts; empty if the whole layer is recomputed.
  auto operator<=>(const LayerRecompute&) const = default;
};
inline constexpr LayerRecompute kNoRecompute{};
inline constexpr LayerRecompute kCoreRecompute{.whole = false,
                                               .modules = {RecomputeModule::kCoreAttention}};
inline constexpr LayerRecompute kWholeRecompute{.whole = true, .modules = {}};
inline constexpr RecomputeModuleSet kPerOperator{RecomputeModule::kPerOperator};

// The next functions take the setting of one position (`recompute_of_pipeline_rank`):

/// True if only some layers of a chunk are recomputed: with `every: n` the 0th, nth, 2nth, with
/// `first: n` the first n. `recompute`: of one pipeline rank.
constexpr bool recomputes_some_layers(const ActivationRecomputation& recompute) {
  return recompute.every > 1 || recompute.first > 0;
}

/// Returns what is recomputed in those layers that are recomputed at all. `recompute`: of one
/// pipeline rank.
constexpr LayerRecompute parts_recomputed_in_layers(const ActivationRecomputation& recompute) {
  switch (recompute.kind) {
    case RecomputeKind::kNone: return kNoRecompute;
    case RecomputeKind::kSelective: return kCoreRecompute;
    case RecomputeKind::kModules: return {.whole = false, .modules = recompute.modules};
    default: return kWholeRecompute;
  }
}

/// Returns what every layer recomputes at least: nothing if some layers are left out. `recompute`:
/// of one pipeline rank.
constexpr LayerRecompute common_layer_recompute(const ActivationRecomputation& recompute) {
  return recomputes_some_layers(recompute) ? kNoRecompute : parts_recomputed_in_layers(recompute);
}

/// True if the layer with index `within_chunk` in its chunk is among those that `every` and `first`
/// select for recomputation. `recompute`: of one pipeline rank.
constexpr bool is_layer_index_recomputed(const ActivationRecomputation& recompute,
                                         std::int64_t within_chunk) {
  return (recompute.first == 0 || within_chunk < recompute.first) &&
         (recompute.every <= 1 || within_chunk % recompute.every == 0);
}

/// Returns what the layer with index `within_chunk` in its chunk recomputes. `recompute`: of one
/// pipeline rank.
constexpr LayerRecompute recomputation_of_chunk_layer(const ActivationRecomputation& recompute,
                                                      std::int64_t within_chunk) {
  return is_layer_index_recomputed(recompute, within_chunk) ? parts_recomputed_in_layers(recompute)
                                                            : kNoRecompute;
}

// The next functions take the settings of all positions:

/// Returns what every layer on every pipeline rank recomputes at least.
LayerRecompute common_recompute_of_stages(const ActivationRecomputation& recompute);

/// True if all pipeline ranks have the same recomputation.
inline bool all_stages_recompute_equally(const ActivationRecomputation& recompute) {
  return recompute.stages.empty();
}

/// A word for a kind of recomputation in framework files, with the test whether a plan uses it.
struct RecomputeWord {
  std::string_view name;
  bool (*takes)(const ActivationRecomputation& recompute);
};
inline constexpr RecomputeWord kRecomputeWords[] = {
    {"none", [](const ActivationRecomputation& r) { return r.kind == RecomputeKind::kNone; }},
    {"selective",
     [](const ActivationRecomputation& r) { return r.kind == RecomputeKind::kSelective; }},
    {"full", [](const ActivationRecomputation& r) { return r.kind == RecomputeKind::kFull; }},
    {"every",
     [](const ActivationRecomputation& r) {
       return r.kind == RecomputeKind::kEvery && r.first == 0;
     }},
    {"first",
     [](const ActivationRecomputation& r) {
       return r.kind == RecomputeKind::kEvery && r.first > 0;
     }},
    {"modules_of_some_layers",
     [](const ActivationRecomputation& r) {
       return r.kind == RecomputeKind::kModules && recomputes_some_layers(r);
     }},
    {"modules",
     [](const ActivationRecomputation& r) {
       return r.kind == RecomputeKind::kModules && r.modules != kPerOperator;
     }},
    {"shared_experts",
     [](const ActivationRecomputation& r) {
       return r.modules.has(RecomputeModule::kSharedExperts);
     }},
    {"per-operator",
     [](const ActivationRecomputation& r) { return r.modules.has(RecomputeModule::kPerOperator); }},
    {"stages", [](const ActivationRecomputation& r) { return !r.stages.empty(); }}};

/// Returns a plan's recomputation as text: "none", "selective", "full", "every 2", "first 3", "norm
/// + mlp every 2" or "none, full on stages 0-1". Equal settings have equal texts.
std::string recompute_setting_text(const ActivationRecomputation& recompute);

/// Returns a plan's recomputation in words for users, as "full recomputation".
std::string recompute_description(const ActivationRecomputation& recompute);

}  // namespace stepwright::plan
