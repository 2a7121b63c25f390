#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::step {

/// Roles of the tensors that a forward block keeps for its backward. Each role has one name, so
/// that a backward builder finds the tensor whether the forward ran in another template (restored)
/// or in this one (recomputed).
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
  kIndexLatent,  ///< Rows that an indexer projects: the query latents and the layer's input.
  kIndexInput,
  kIndexQueries,
  kIndexKeyInput,  ///< Input of the norm of an indexer's keys.
  kIndexStatistics,
  kIndexKeys,
  kIndexWeights,
  kIndices,   ///< Indices of the keys that an indexer chooses for each token.
  kHeadsQkv,  ///< Ulysses: queries, keys and values after the exchange.
  kHeadsOut,  ///< Ulysses: attention core's output before the exchange.
  kAttentionOut,
  kAttentionGated,  ///< Attention core's result times the attention gates.
  /// Narrow copy of the input of the output projection, in addition to kAttentionGated.
  kProjectionInput,
  kAttentionResult,  ///< Input of a norm on the result of attention.
  kAttentionResultStatistics,
  kMixerIn,  ///< Result of the input projection of a mixer with a state, before its convolution.
  kMixerConvolved,
  kMixerSelection,  ///< Input of norms on Mamba's selection.
  kMixerSelectionStatistics,
  kMixerSelected,  ///< Mamba: step sizes, B and C of its selection.
  kMixerSteps,     ///< Mamba: step sizes for each channel.
  kMixerScanned,
  kMixerStatistics,
  kMixerOut,  ///< Input of a mixer's last projection.
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
  kFc1Up,  ///< Result of the other half of a gated product, if the halves are separate products.
  kGate,   ///< Activated gates, if a separate kernel multiplies by them.
  kActivationOut,
  /// Results of the MLP's second product: no backward reads them, but recomputation by operator
  /// keeps them.
  kFc2Out,
  /// Sum over tensor ranks of the second product's results, kept by recomputation by operator.
  kFc2Rows,
  kMlpMask,
  kMlpResult,  ///< Input of a norm on the result of the MLP or the experts.
  kMlpResultStatistics,
  kRouterProbabilities,
  kRouterIndices,    ///< Router: indices of the k experts chosen for each row.
  kTokenCounts,      ///< Numbers of rows that each rank of the expert groups sends to each expert.
  kGatheredIndices,  ///< All-gather dispatcher: indices of the top k experts for all ranks' rows.
  kExpertWeights,    ///< Experts' gate weights, on the ranks that apply them.
  kExpertInput,
  kExpertFc1Out,
  kExpertActivationOut,
  kCombined,
  /// Sum of the experts' results in the experts' own narrower width: input of the projection back
  /// to the hidden size.
  kLatentOut,
  kSharedLinearInput,
  kSharedFc1Out,
  kSharedActivationOut,
  kSharedOut,   ///< Result of the gated shared experts, before their gate multiplies it.
  kSharedGate,  ///< Logits of the gate of shared experts.
  kPixels,      ///< Encoder: pixels of images, cut into patches.
  kPatchRows,   ///< Encoder: rows that its layers compute from patches.
  kEmbeddingNormInput,
  kEmbeddingStatistics,
  kEmbeddingMask,
  kFinalInput,
  kFinalStatistics,
  kHeadInput,
  kLogits,
  kLossTarget,   ///< Cross entropy: logit of each token's target minus the token's largest logit.
  kLossSum,      ///< Cross entropy: sum of each token's exponentials over the vocabulary.
  kLossMaximum,  ///< Vocabulary in parts: largest logit of all parts.
  kPartMaximum,  ///< Vocabulary in parts: largest logit of this part.
  /// Vocabulary in parts: sum of exponentials relative to the part's largest logit.
  kPartSum,
  kWideLogits,  ///< Logits in fp32, for a plain cross entropy or a cap.
  /// Gradient of the head's input, if the loss computes gradients in its forward.
  kHeadRowGradient,
  /// Gradient of the head's weight, if the loss computes gradients in its forward.
  kHeadWeightGradient,
  kAttentionNormCopies,  ///< fp32 copies of an unfused norm; one role for each norm.
  kMlpNormCopies,
  kEmbeddingNormCopies,
  kFinalNormCopies,
  kAttentionResultCopies,
  kMlpResultCopies,
  kMixerSelectionCopies,
  kIndexCopies,
  kQueryNormCopies,
  kKeyValueNormCopies,
  /// Result of a norm, kept for a frozen product that keeps its input (`engine_input`).
  kQkvEngineInput,
  kFc1EngineInput,
  /// An adapter's kept tensors, three for each product: the result of A, the adapter's input, and
  /// the mask of its dropout.
  kQkvNarrow,
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
  /// Inputs of the norms of a module that predicts tokens further ahead (multi-token prediction).
  kMultiTokenHidden,
  kMultiTokenHiddenStatistics,
  kMultiTokenHiddenCopies,
  kMultiTokenEmbedded,
  kMultiTokenEmbeddedStatistics,
  kMultiTokenEmbeddedCopies,
  kMultiTokenJoined,  ///< Input of a multi-token module's projection.
  kCount,
};

/// The start of a pass of a block: the index of its first operator in the template.
struct PassBegin {
  schedule::Direction pass{};
  std::int32_t first = 0;
};

/// The tensors that one block instance keeps, by role; -1: the role is absent.
class Kept {
 public:
  Kept() { ids_.fill(-1); }
  void set(Keep role, TensorId id) { ids_[static_cast<std::size_t>(role)] = id; }
  [[nodiscard]] TensorId get(Keep role) const { return ids_[static_cast<std::size_t>(role)]; }
  [[nodiscard]] bool has(Keep role) const { return get(role) >= 0; }
  void forget(Keep role) { set(role, -1); }
  /// Returns a copy in which the roles that `other` has hold the tensors of `other`.
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

/// Builds one template: tensors, operators in issue order, and dependences derived from operands.
class TemplateBuilder {
 public:
  /// `busiest`: load of the busiest rank over the mean for routed operators that do not set their
  /// own.
  TemplateBuilder(std::string name, std::vector<LocalParameter> parameters, double busiest = 1);

  TensorId tensor(const Tensor& tensor);
  /// Adds a tensor that an earlier item passes in.
  TensorId input(const Tensor& tensor);
  void output(TensorId id) { piece_.outputs.push_back(id); }

  /// Appends an operator and returns its index. The operator runs after the last writers of the
  /// tensors that it reads; `after` adds more dependences. Operands of -1 are skipped. An operator
  /// without a name gets the name of its part.
  std::int32_t add(Operator op, std::span<const TensorId> reads, std::span<const TensorId> writes,
                   std::span<const std::int32_t> after = {});
  std::int32_t add(const Operator& op, std::initializer_list<TensorId> reads,
                   std::initializer_list<TensorId> writes) {
    return add(op, std::span(reads.begin(), reads.size()),
               std::span(writes.begin(), writes.size()));
  }

  /// Starts a pass: the operators that follow belong to it.
  void begin(schedule::Direction pass) {
    passes_.push_back({pass, static_cast<std::int32_t>(piece_.operators.size())});
  }
  [[nodiscard]] const std::vector<PassBegin>& passes() const { return passes_; }

  /// Index of a part's parameter; -1 if the block has none.
  [[nodiscard]] ParameterId parameter(LayerPart part) const;
  [[nodiscard]] ParameterId parameter(std::string_view name) const;

  /// Marks the tensors that a forward template keeps, in the order of roles, each tensor once.
  void save(const Kept& kept);
  /// Creates in this backward template the tensors that `forward` saved under `kept`, and returns
  /// them.
  Kept restore(const TemplateBuilder& forward, const Kept& kept);
  /// Creates the tensors of several saved sets in this backward template, and returns each set.
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
  /// For each tensor, the last operator that wrote it; -1: none.
  std::vector<std::int32_t> writer_;
};

}  // namespace stepwright::step
