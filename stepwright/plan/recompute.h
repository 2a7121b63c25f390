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

/// Recomputation of one pipeline position that differs from the others.
struct StageRecompute {
  std::int64_t position = 0;
  RecomputeKind kind = RecomputeKind::kNone;
  std::int64_t every = 1;
  ModuleSet modules;
  auto operator<=>(const StageRecompute&) const = default;
};

/// Recomputation of a plan in its backwards.
struct Recompute {
  RecomputeKind kind = RecomputeKind::kNone;
  /// Every n-th layer of a chunk (0, n, 2n, ...) is recomputed: with kEvery in full, with kModules
  /// its modules.
  std::int64_t every = 1;
  ModuleSet modules;  ///< Modules recomputed with kModules.
  /// Positions with another recomputation, ascending.
  std::vector<StageRecompute> stages;
  auto operator<=>(const Recompute&) const = default;
};

/// Returns the recomputation of a position listed in `stages`.
inline Recompute setting_of(const StageRecompute& stage) {
  return {stage.kind, stage.every, stage.modules, {}};
}

/// Returns the recomputation of the layers of one pipeline position. Every function about a layer
/// must call this one first: no other knows how positions differ.
Recompute recompute_at(const Recompute& recompute, std::int64_t position);

/// Visits each recomputation that positions have, at least once; the setting of most positions
/// comes first.
template <class Visit>
void each_setting(const Recompute& recompute, Visit&& visit) {
  visit(Recompute{recompute.kind, recompute.every, recompute.modules, {}});
  for (const StageRecompute& stage : recompute.stages) visit(setting_of(stage));
}

/// The part of a layer that its backward recomputes: everything, or some modules.
struct LayerRecompute {
  bool whole = false;
  ModuleSet modules;  ///< Recomputed modules; empty with `whole`.
  auto operator<=>(const LayerRecompute&) const = default;
};
inline constexpr LayerRecompute kNoRecompute{};
inline constexpr LayerRecompute kCoreRecompute{.whole = false, .modules = {Module::kCoreAttention}};
inline constexpr LayerRecompute kWholeRecompute{.whole = true, .modules = {}};
inline constexpr ModuleSet kPerOperator{Module::kPerOperator};

// The next functions take the setting of one position (`recompute_at`):

/// Recomputation of those layers that are recomputed: with `every: n` the 0th, nth, 2nth of a
/// chunk, else all.
constexpr LayerRecompute recomputed(const Recompute& recompute) {
  switch (recompute.kind) {
    case RecomputeKind::kNone: return kNoRecompute;
    case RecomputeKind::kSelective: return kCoreRecompute;
    case RecomputeKind::kModules: return {.whole = false, .modules = recompute.modules};
    default: return kWholeRecompute;
  }
}

/// Recomputation that every layer has in common: none with `every` above 1.
constexpr LayerRecompute least_recomputed(const Recompute& recompute) {
  return recompute.every > 1 ? kNoRecompute : recomputed(recompute);
}

/// True if a layer is recomputed; `within_chunk`: its index in its chunk.
constexpr bool is_recomputed(const Recompute& recompute, std::int64_t within_chunk) {
  return recompute.every <= 1 || within_chunk % recompute.every == 0;
}

/// Recomputation of a layer; `within_chunk`: its index in its chunk.
constexpr LayerRecompute layer_recompute(const Recompute& recompute, std::int64_t within_chunk) {
  return is_recomputed(recompute, within_chunk) ? recomputed(recompute) : kNoRecompute;
}

// The next functions take the settings of all positions:

/// Recomputation that every layer of every position has in common.
LayerRecompute least_recompute_anywhere(const Recompute& recompute);

/// True if all positions recompute alike.
inline bool recomputes_alike(const Recompute& recompute) { return recompute.stages.empty(); }

/// A word for recomputation in the files of frameworks.
struct RecomputeWord {
  std::string_view name;
  bool (*takes)(const Recompute& recompute);
};
inline constexpr RecomputeWord kRecomputeWords[] = {
    {"none", [](const Recompute& r) { return r.kind == RecomputeKind::kNone; }},
    {"selective", [](const Recompute& r) { return r.kind == RecomputeKind::kSelective; }},
    {"full", [](const Recompute& r) { return r.kind == RecomputeKind::kFull; }},
    {"every", [](const Recompute& r) { return r.kind == RecomputeKind::kEvery || r.every > 1; }},
    {"modules",
     [](const Recompute& r) {
       return r.kind == RecomputeKind::kModules && r.modules != kPerOperator;
     }},
    {"shared_experts", [](const Recompute& r) { return r.modules.has(Module::kSharedExperts); }},
    {"per-operator", [](const Recompute& r) { return r.modules.has(Module::kPerOperator); }},
    {"stages", [](const Recompute& r) { return !r.stages.empty(); }}};

/// Writes recomputation as "none", "selective", "full", "every 2", "norm + mlp every 2" or "none,
/// full on stages 0-1"; equal settings have equal words.
std::string recompute_word(const Recompute& recompute);

/// Describes recomputation, as "full recomputation".
std::string recompute_text(const Recompute& recompute);

}  // namespace stepwright::plan
