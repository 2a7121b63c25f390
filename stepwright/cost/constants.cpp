#include "stepwright/cost/constants.h"

#include <fmt/format.h>

#include <utility>

#include "stepwright/cost/collective_constants.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/cost/device_defaults.h"

namespace stepwright {
namespace {

constexpr const Constant* kGeneral[] = {&constants::kMemoryShare,
                                        &constants::kNormShare,
                                        &constants::kEmbeddingShare,
                                        &constants::kUnfusedNormForward,
                                        &constants::kUnfusedNormBackward,
                                        &constants::kUnfusedRotaryForward,
                                        &constants::kUnfusedRotaryBackward,
                                        &constants::kUnfusedActivation,
                                        &constants::kUnfusedSoftmax,
                                        &constants::kUnfusedKernels,
                                        &constants::kRouterKernels,
                                        &constants::kSortKernels,
                                        &constants::kAttentionKernels,
                                        &constants::kAttentionBackwardKernels,
                                        &constants::kProductCasts,
                                        &constants::kLibraryLaunch,
                                        &constants::kWideShare,
                                        &constants::kGroupedShare,
                                        &constants::kGroupedPadding,
                                        &constants::kUnfusedAttentionShare,
                                        &constants::kAttentionBackward,
                                        &constants::kAttentionKeys,
                                        &constants::kMaskedKeys,
                                        &constants::kHeadDimension,
                                        &constants::kLaunch,
                                        &constants::kGraphLaunch,
                                        &constants::kStatedError};

std::string line(std::string_view of, const Constant& constant) {
  return fmt::format("{}{}: {}{}{} ({})", of, constant.name, constant.value,
                     constant.unit.empty() ? "" : " ", constant.unit, constant.source);
}

}  // namespace

std::vector<std::string> CostModel::constants() const {
  std::vector<std::string> lines;
  for (const Constant& constant : listed(*defaults_)) {
    lines.push_back(
        line(fmt::format("{}, ", name_of(kGenerationNames, defaults_->generation)), constant));
  }
  for (const Constant* constant : kGeneral) lines.push_back(line("", *constant));
  for (std::string& text : listed(collective_.constants())) lines.push_back(std::move(text));
  return lines;
}

}  // namespace stepwright
