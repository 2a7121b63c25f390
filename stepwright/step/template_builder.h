#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::step {

/// Roles (names) of the tensors that a forward block keeps for its backward. The backward finds a
/// tensor by its role, whether the forward ran in another template (restored) or in the backward's
/// own (recomputed).
enum class KeptTensorRole : std::uint8_t {
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
  /// Kept tensor: query latents that a sparse-attention indexer projects.
  kIndexLatent,
  /// Kept tensor: the layer's input rows that a sparse-attention indexer projects.
  kIndexInput,
  kIndexQueries,
  kIndexKeyInput,  ///< Kept tensor: input of the norm on the keys of a sparse-attention indexer.
  kIndexStatistics,
  kIndexKeys,
  kIndexWeights,
  /// Kept tensor: indices of the keys that a sparse-attention indexer chooses for each token.
  kIndices,
  /// Kept tensor (Ulysses): queries, keys and values after the exchange of sequence shards for
  /// heads.
  kHeadsQkv,
  /// Kept tensor (Ulysses): the attention core's output before the exchange of heads for sequence
  /// shards.
  kHeadsOut,
  kAttentionOut,
  kAttentionGated,  ///< Kept tensor: the attention core's result times the attention gates.
  /// Kept tensor: narrow (fp8) copy of the input of attention's output projection.
  kProjectionInput,
  kAttentionResult,  ///< Kept tensor: input of a norm on the result of attention.
  kAttentionResultStatistics,
  /// Kept tensor: result of the input projection of a mixer with a state (Mamba, delta net), before
  /// its convolution.
  kMixerIn,
  kMixerConvolved,
  /// Kept tensor (Mamba): input of the norms on the selected step sizes, B and C.
  kMixerSelection,
  kMixerSelectionStatistics,
  kMixerSelected,  ///< Kept tensor (Mamba): step sizes, B and C that are computed from each token.
  kMixerSteps,     ///< Kept tensor (Mamba): step sizes for each channel.
  kMixerScanned,
  kMixerStatistics,
  /// Kept tensor: input of the last projection of a mixer with a state (Mamba, delta net).
  kMixerOut,
  kLogSumExp,
  kProbabilities,
  kProbabilityMask,
  kDropped,
  kAttentionMask,
  kMlpInput,
  kMlpStatistics,
  /// Kept tensor: input rows of the dense MLP, before they are gathered over tensor ranks.
  kMlpEntry,
  kMlpLinearInput,
  kFc1Out,
  /// Kept tensor: result of the up projection of a gated MLP, if gate and up are separate products.
  kFc1Up,
  kGate,  ///< Kept tensor: activated gates of a gated MLP, if a separate kernel multiplies by them.
  kActivationOut,
  /// Kept tensor: result of the MLP's second product, which no backward reads, but which
  /// recomputation operator by operator keeps.
  kFc2Out,
  /// Kept tensor: sum over tensor ranks of the MLP's second product, which recomputation operator
  /// by operator keeps.
  kFc2Rows,
  kMlpMask,
  kMlpResult,  ///< Kept tensor: input of a norm on the result of the MLP or the experts.
  kMlpResultStatistics,
  kRouterProbabilities,
  kRouterIndices,  ///< Kept tensor of a router: indices of the k experts chosen for each row.
  /// Kept tensor: number of rows that each rank of the expert group sends to each expert.
  kTokenCounts,
  /// Kept tensor of the all-gather dispatcher: indices of the top k experts for the rows of all
  /// ranks.
  kGatheredIndices,
  kExpertWeights,  ///< Kept tensor: gate weights of experts, on the ranks that multiply by them.
  kExpertInput,
  kExpertFc1Out,
  kExpertActivationOut,
  /// Kept tensor: the experts' activations before a separate kernel multiplies them by gate
  /// weights.
  kExpertUnweighted,
  kCombined,
  /// Kept tensor: sum of the experts' results in the experts' own narrower width, which a
  /// projection brings back to the hidden size.
  kLatentOut,
  kSharedLinearInput,
  kSharedFc1Out,
  kSharedActivationOut,
  kSharedOut,   ///< Kept tensor: result of the shared experts before their gate multiplies it.
  kSharedGate,  ///< Kept tensor: logits of the gate of shared experts, one per row.
  kPixels,      ///< Kept tensor of the image encoder: pixels of images, cut into patches.
  kPatchRows,   ///< Kept tensor of the image encoder: rows that its layers compute from patches.
  kEmbeddingNormInput,
  kEmbeddingStatistics,
  kEmbeddingMask,
  kFinalInput,
  kFinalStatistics,
  kHeadInput,
  kLogits,
  /// Kept tensor of the cross entropy: logit of each token's target minus the token's largest
  /// logit.
  kLossTarget,
  /// Kept tensor of the cross entropy: sum of each token's exponentials over the vocabulary.
  kLossSum,
  /// Kept tensor, vocabulary split over pipeline stages: each token's largest logit of all parts.
  kLossMaximum,
  /// Kept tensor, vocabulary split over pipeline stages: each token's largest logit of this part.
  kPartMaximum,
  /// Kept tensor, vocabulary split over pipeline stages: each token's sum of exponentials over this
  /// part, relative to its largest logit of this part.
  kPartSum,
  /// Kept tensor: logits in fp32, for a cross entropy that is computed from an fp32 copy, or for a
  /// model that caps its logits.
  kWideLogits,
  /// Kept tensor: gradient of the head's input, if the loss computes gradients in its forward.
  kHeadRowGradient,
  /// Kept tensor: gradient of the head's weight, if the loss computes gradients in its forward.
  kHeadWeightGradient,
  /// Kept tensor: fp32 copies that an unfused norm before attention makes; every norm has such a
  /// role.
  kAttentionNormCopies,
  kMlpNormCopies,
  kEmbeddingNormCopies,
  kFinalNormCopies,
  kAttentionResultCopies,
  kMlpResultCopies,
  kMixerSelectionCopies,
  kIndexCopies,
  kQueryNormCopies,
  kKeyValueNormCopies,
  /// Kept tensor: result of the norm before a frozen QKV product, which Transformer Engine keeps
  /// although no weight gradient needs it.
  kQkvEngineInput,
  kFc1EngineInput,
  /// Kept tensor: result of A in the LoRA adapter of the QKV product. Each product with an adapter
  /// has three roles: the result of A, the adapter's input, and its dropout mask.
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
  /// Kept tensor of multi-token prediction: input of the norm on the rows of the previous layer.
  kMultiTokenHidden,
  kMultiTokenHiddenStatistics,
  kMultiTokenHiddenCopies,
  kMultiTokenEmbedded,
  kMultiTokenEmbeddedStatistics,
  kMultiTokenEmbeddedCopies,
  /// Kept tensor of multi-token prediction: input of the projection that joins rows and next
  /// tokens.
  kMultiTokenJoined,
  kCount,
};

/// Start of a pass, where the schedule runs a block (embedding or head) in several passes: the
/// index of the pass's first operator in the template.
struct VocabularyPassBegin {
  schedule::Direction pass{};
  std::int32_t first = 0;
};

/// The tensors that one block keeps for its backward, by role; -1: the block has no tensor with
/// that role.
class KeptTensors {
 public:
  KeptTensors() { ids_.fill(-1); }
  void set(KeptTensorRole role, TensorId id) { ids_[static_cast<std::size_t>(role)] = id; }
  [[nodiscard]] TensorId get(KeptTensorRole role) const {
    return ids_[static_cast<std::size_t>(role)];
  }
  [[nodiscard]] bool has(KeptTensorRole role) const { return get(role) >= 0; }
  void forget(KeptTensorRole role) { set(role, -1); }
  /// Returns a copy in which the tensors of `other` replace those with the same roles.
  [[nodiscard]] KeptTensors with_replaced_tensors(const KeptTensors& other) const {
    KeptTensors both = *this;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (other.ids_[i] >= 0) both.ids_[i] = other.ids_[i];
    }
    return both;
  }
  [[nodiscard]] std::span<const TensorId> all() const { return ids_; }

 private:
  std::array<TensorId, static_cast<std::size_t>(KeptTensorRole::kCount)> ids_{};
};

/// Builds one template (the operators of a block in one direction): adds tensors and operators in
/// issue order, and derives dependences between operators from the tensors that they read and
/// write.
class OperatorTemplateBuilder {
 public:
  /// Starts a template. `busiest`: load of the busiest rank over the mean, for operators on rows
  /// routed to experts that do not set their own.
  OperatorTemplateBuilder(std::string name, std::vector<RankLocalParameter> parameters,
                          double busiest = 1);

  TensorId tensor(const TemplateTensor& tensor);
  /// Adds a tensor that an earlier template of the same forward or backward passes in, such as the
  /// residual stream.
  TensorId add_input_tensor(const TemplateTensor& tensor);
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

  /// Starts a pass: operators added from here on run in a slot of their own in the schedule.
  void begin(schedule::Direction pass) {
    passes_.push_back({pass, static_cast<std::int32_t>(piece_.operators.size())});
  }
  [[nodiscard]] const std::vector<VocabularyPassBegin>& passes() const { return passes_; }

  /// Returns the index of a layer part's parameter; -1 if the block has no such parameter.
  [[nodiscard]] ParameterId parameter_of_layer_part(LayerPart part) const;
  [[nodiscard]] ParameterId parameter_of_layer_part(std::string_view name) const;

  /// Marks the tensors that this forward template keeps for its backward, in the order of roles,
  /// each tensor once.
  void mark_tensors_kept_for_backward(const KeptTensors& kept);
  /// Creates, in this backward template, the tensors that the template `forward` saved, and returns
  /// them under the roles that they have in `kept`.
  KeptTensors create_kept_tensors_in_backward(const OperatorTemplateBuilder& forward,
                                              const KeptTensors& kept);
  /// Creates, in this backward template, the tensors that the template `forward` saved, and returns
  /// them in several sets, under the roles that they have in each set of `kept`.
  std::vector<KeptTensors> create_kept_tensors_in_backward(const OperatorTemplateBuilder& forward,
                                                           std::span<const KeptTensors> kept);

  [[nodiscard]] const TemplateTensor& at(TensorId id) const {
    return piece_.tensors[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] OperatorTemplate& piece() { return piece_; }
  [[nodiscard]] const OperatorTemplate& piece() const { return piece_; }

 private:
  void add_edge(Operator& op, std::int32_t index);
  OperatorTemplate piece_;
  std::vector<VocabularyPassBegin> passes_;
  double busiest_;
  /// For each tensor of the template, the index of the last operator that wrote it; -1: none.
  std::vector<std::int32_t> writer_;
};

}  // namespace stepwright::step
