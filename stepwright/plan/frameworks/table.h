#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/frameworks/ability.h"

namespace stepwright {

/// One line of a framework's table: the words of an ability that it runs, and where that is
/// written. Lines of one ability that all hold for a plan narrow each other.
struct AbilityEntry {
  Ability ability{};
  WordSet words;
  DegreeSet with = 0;  ///< Holds where one of these degrees is above 1; 0: always.
  std::string from;    ///< Holds from this release on; empty: from the first.
  std::string before;  ///< Holds before this release; empty: to the newest.
  std::string source;
};

/// What a framework computes with where a job does not say.
struct FrameworkKernels {
  std::array<AttentionKernel, std::size(kGenerationNames)> attention{};  ///< By generation.
  bool fused_norm = true;
  bool fused_activation = true;
  bool fused_accumulation = true;
  bool fused_gate = true;
  bool scattered_gradients = true;
  std::string source;
};

/// What a framework runs (`stepwright/plan/frameworks/NAME.yaml`).
struct FrameworkEntry {
  std::string name;     ///< Of `kFrameworkNames`.
  std::string about;    ///< In a person's words.
  std::string checked;  ///< Which releases were read.
  std::vector<AbilityEntry> runs;
  FrameworkKernels kernels;
  std::vector<std::string> notes;  ///< What the lines cannot say.
};

/// The entry of a name of `kFrameworkNames`.
const FrameworkEntry& framework_entry(std::string_view name);

/// Reads an entry; `like: NAME` in it starts from a built-in one. Fails with `kInput` on a line
/// without words or source, and on what is known of no ability, degree or generation.
FrameworkEntry read_framework_entry(Node node);

/// The kernels of a framework on a device; those of `Kernels` without one.
Kernels default_kernels(const Framework& framework, const Device& device);

}  // namespace stepwright
