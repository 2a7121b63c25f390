#include "stepwright/plan/recompute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace stepwright {

LayerRecompute least_everywhere(const Recompute& recompute) {
  std::optional<LayerRecompute> least;
  each_setting(recompute, [&](const Recompute& setting) {
    const LayerRecompute own = least_recomputed(setting);
    least = !least || *least == own ? own : kNoRecompute;
  });
  return *least;
}

bool recomputes_alike(const Recompute& recompute) {
  bool alike = true;
  const Recompute first = recompute_at(recompute, 0);
  each_setting(recompute, [&](const Recompute& setting) { alike = alike && setting == first; });
  return alike;
}

std::string recompute_word(const Recompute& recompute) {
  std::string word(name_of(kRecomputeNames, recompute.kind));
  if (recompute.kind == RecomputeKind::kEvery) return fmt::format("{} {}", word, recompute.every);
  if (recompute.kind != RecomputeKind::kModules) return word;
  word = fmt::format("{}", fmt::join(module_words(recompute.modules), " + "));
  return recompute.every > 1 ? fmt::format("{} every {}", word, recompute.every) : word;
}

std::string recompute_text(const Recompute& recompute) {
  switch (recompute.kind) {
    case RecomputeKind::kNone: return "no recomputation";
    case RecomputeKind::kSelective: return "selective recomputation";
    case RecomputeKind::kFull: return "full recomputation";
    case RecomputeKind::kModules:
      return fmt::format("recomputation of {}", recompute_word(recompute));
    case RecomputeKind::kEvery: break;
  }
  return fmt::format("recomputation of layers 0, {0}, 2 x {0}, ...", recompute.every);
}

}  // namespace stepwright
