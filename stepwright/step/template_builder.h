#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::step {

/// The roles of what a forward block keeps for its backward. One name per role, so that a backward
/// builder finds the tensor whether the forward ran in another template (restored) or in this one
/// (recomputed).
enum class Keep : std::uint8_t {
  kAttentionInput,
  kAttentionStatistics,
  kAttentionLinearInput,
  kQkv,
  kQkNormed,
  kQkStatistics,
  kQueryDown,
  kQueryDownNormed,
  kQueryUp,
  kKeyValueDown,
  kKeyValueDownNormed,
  kKeyValueUp,
  kLatentStatistics,
  kIndexLatent,  ///< Rows that an indexer projects: of queries and of the layer.
  kIndexInput,
  kIndexQueries,
  kIndexKeyInput,  ///< Input of the norm of an indexer's keys.
  kIndexStatistics,
  kIndexKeys,
  kIndexWeights,
  kIndices,   ///< The keys that it chooses for each token.
  kHeadsQkv,  ///< Ulysses: queries, keys and values after the exchange.
  kHeadsOut,  ///< Ulysses: the core's output before the exchange.
  kAttentionOut,
  kAttentionGated,   ///< The core's result times its gates.
  kProjectionInput,  ///< Narrow copy of the input of attention's last product, beside the former.
  kAttentionResult,  ///< Input of a norm on the result of attention.
  kAttentionResultStatistics,
  kMixerIn,  ///< Projection of a mixer with a state, before its convolution.
  kMixerConvolved,
  kMixerSelection,  ///< Input of norms on Mamba's selection.
  kMixerSelectionStatistics,
  kMixerSelected,  ///< Mamba: step sizes, B and C.
  kMixerSteps,     ///< Mamba: step sizes for each channel.
  kMixerScanned,
  kMixerStatistics,
  kMixerOut,  ///< Input of its last projection.
  kLogSumExp,
  kProbabilities,
  kProbabilityMask,
  kDropped,
  kAttentionMask,
  kMlpInput,
  kMlpStatistics,
  kMlpEntry,  ///< Rows that enter the dense MLP, before they are gathered.
  kMlpLinearInput,
  kFc1Out,
  kFc1Up,  ///< The other half of a gated product whose halves are products of their own.
  kGate,   ///< Activated gates, where a kernel of its own multiplies them.
  kActivationOut,
  kFc2Out,   ///< Results of the second product, and of the sum over ranks, that nothing asks for
  kFc2Rows,  ///< but that recomputation by operator keeps.
  kMlpMask,
  kMlpResult,  ///< Input of a norm on the result of the MLP or the experts.
  kMlpResultStatistics,
  kRouterProbabilities,
  kRouterIndices,    ///< The top k of each row.
  kTokenCounts,      ///< Rows that each rank of the expert groups sends to each expert.
  kGatheredIndices,  ///< All-gather dispatcher: the top k of all ranks' rows.
  kExpertWeights,    ///< Gate weights where they are applied.
  kExpertInput,
  kExpertFc1Out,
  kExpertActivationOut,
  kCombined,
  /// Sum of the experts' results in their own width: input of the projection out of it.
  kLatentOut,
  kSharedLinearInput,
  kSharedFc1Out,
  kSharedActivationOut,
  kSharedOut,   ///< Result of gated shared experts, before the gate.
  kSharedGate,  ///< Logits of that gate.
  kPixels,      ///< Pixels of images, cut into patches.
  kPatchRows,   ///< Rows that an encoder's layers make of patches.
  kEmbeddingNormInput,
  kEmbeddingStatistics,
  kEmbeddingMask,
  kFinalInput,
  kFinalStatistics,
  kHeadInput,
  kLogits,
  kLossTarget,   ///< Logit of each token's target less the largest one.
  kLossSum,      ///< Sum of each token's exponentials.
  kLossMaximum,  ///< Vocabulary in parts: largest logit of all parts.
  kPartMaximum,  ///< Vocabulary in parts: largest logit of this part.
  /// Vocabulary in parts: sum of exponentials relative to the part's largest logit.
  kPartSum,
  kWideLogits,  ///< Logits in fp32, for a plain cross entropy or a cap.
  /// Gradient of the head's input, from a loss whose forward computes gradients.
  kHeadRowGradient,
  kHeadWeightGradient,   ///< Gradient of the head's weight, from such a loss.
  kAttentionNormCopies,  ///< Copies in fp32 that an unfused norm keeps, of each norm.
  kMlpNormCopies,
  kEmbeddingNormCopies,
  kFinalNormCopies,
  kAttentionResultCopies,
  kMlpResultCopies,
  kMixerSelectionCopies,
  kIndexCopies,
  kQueryNormCopies,
  kKeyValueNormCopies,
  kQkvEngineInput,  ///< Norm's result for a frozen product that keeps it (`engine_input`).
  kFc1EngineInput,
  kQkvNarrow,  ///< Adapter beside a product: the result of A, its input, the input's mask.
  kQkvAdapterInput,
  kQkvAdapterMask,
  kQueryDownNarrow,
  kQueryDownAdapterInput,
  kQueryDownAdapterMask,
  kQueryUpNarrow,
  kQueryUpAdapterInput,
  kQueryUpAdapterMask,
  kKeyValueDownNarrow,
  kKeyValueDownAdapterInput,
  kKeyValueDownAdapterMask,
  kKeyValueUpNarrow,
  kKeyValueUpAdapterInput,
  kKeyValueUpAdapterMask,
  kProjectionNarrow,
  kProjectionAdapterInput,
  kProjectionAdapterMask,
  kFc1Narrow,
  kFc1AdapterInput,
  kFc1AdapterMask,
  kFc2Narrow,
  kFc2AdapterInput,
  kFc2AdapterMask,
  kExpertFc1Narrow,
  kExpertFc1AdapterInput,
  kExpertFc1AdapterMask,
  kExpertFc2Narrow,
  kExpertFc2AdapterInput,
  kExpertFc2AdapterMask,
  kSharedFc1Narrow,
  kSharedFc1AdapterInput,
  kSharedFc1AdapterMask,
  kSharedFc2Narrow,
  kSharedFc2AdapterInput,
  kSharedFc2AdapterMask,
  kMultiTokenHidden,  ///< Inputs of the norms of a module that predicts tokens further ahead.
  kMultiTokenHiddenStatistics,
  kMultiTokenHiddenCopies,
  kMultiTokenEmbedded,
  kMultiTokenEmbeddedStatistics,
  kMultiTokenEmbeddedCopies,
  kMultiTokenJoined,  ///< Input of its projection.
  kCount,
};

/// Where a pass of a block begins: with which operator of its template.
struct PassBegin {
  schedule::Direction pass{};
  std::int32_t first = 0;
};

/// The kept tensors of one block instance; -1 where a role is absent.
class Kept {
 public:
  Kept() { ids_.fill(-1); }
  void set(Keep role, TensorId id) { ids_[static_cast<std::size_t>(role)] = id; }
  [[nodiscard]] TensorId get(Keep role) const { return ids_[static_cast<std::size_t>(role)]; }
  [[nodiscard]] bool has(Keep role) const { return get(role) >= 0; }
  void forget(Keep role) { set(role, -1); }
  /// With the tensors of `other` in the roles that it has.
  [[nodiscard]] Kept with(const Kept& other) const {
    Kept both = *this;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (other.ids_[i] >= 0) both.ids_[i] = other.ids_[i];
    }
    return both;
  }
  [[nodiscard]] std::span<const TensorId> all() const { return ids_; }

 private:
  std::array<TensorId, static_cast<std::size_t>(Keep::kCount)> ids_{};
};

/// Writes one template: tensors, operators in issue order, dependences derived from operands.
class TemplateBuilder {
 public:
  /// `busiest`: of routed operators, unless they have more of their own.
  TemplateBuilder(std::string name, std::vector<LocalParameter> parameters, double busiest = 1);

  TensorId tensor(const Tensor& tensor);
  /// A tensor that the neighbour hands over.
  TensorId input(const Tensor& tensor);
  void output(TensorId id) { piece_.outputs.push_back(id); }

  /// Appends an operator. It runs after the last writers of what it reads; `after` adds edges.
  /// Operands that are -1 are skipped. Of a part it gets the part's name, unless it has one.
  /// Returns its index.
  std::int32_t add(Operator op, std::span<const TensorId> reads, std::span<const TensorId> writes,
                   std::span<const std::int32_t> after = {});
  std::int32_t add(const Operator& op, std::initializer_list<TensorId> reads,
                   std::initializer_list<TensorId> writes) {
    return add(op, std::span(reads.begin(), reads.size()),
               std::span(writes.begin(), writes.size()));
  }

  /// From here on operators are of a pass.
  void begin(schedule::Direction pass) {
    passes_.push_back({pass, static_cast<std::int32_t>(piece_.operators.size())});
  }
  [[nodiscard]] const std::vector<PassBegin>& passes() const { return passes_; }

  /// Index of a part's parameter; -1 when the block has none.
  [[nodiscard]] ParameterId parameter(LayerPart part) const;
  [[nodiscard]] ParameterId parameter(std::string_view name) const;

  /// Marks what a forward template keeps, in the order of roles, each tensor once.
  void save(const Kept& kept);
  /// Recreates in this backward template what `forward` saved under `kept`.
  Kept restore(const TemplateBuilder& forward, const Kept& kept);
  /// Restores several sets of tensors that were saved.
  std::vector<Kept> restore(const TemplateBuilder& forward, std::span<const Kept> kept);

  [[nodiscard]] const Tensor& at(TensorId id) const {
    return piece_.tensors[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] Template& piece() { return piece_; }
  [[nodiscard]] const Template& piece() const { return piece_; }

 private:
  void add_edge(Operator& op, std::int32_t index);
  Template piece_;
  std::vector<PassBegin> passes_;
  double busiest_;
  std::vector<std::int32_t> writer_;  ///< Per tensor: the last operator that wrote it; -1 none.
};

}  // namespace stepwright::step
