#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "stepwright/runtime/rank/live_tensor_counter.h"
#include "stepwright/runtime/rank/rank_streams.h"
#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// A tensor of a running step, with the moment from which it can be read.
struct TensorWithReadyMoment {
  TensorWithReadyMoment() = default;
  ~TensorWithReadyMoment();
  TensorWithReadyMoment(const TensorWithReadyMoment&) = delete;
  TensorWithReadyMoment& operator=(const TensorWithReadyMoment&) = delete;

  /// Counts the tensor's bytes as held from now until this object is destroyed. Call it once.
  void count(LiveTensorCounter& held, step::TensorPurpose kind);

  at::Tensor value;
  StreamTicket written;
  /// Moments at which operators on other streams have finished reading the tensor.
  std::vector<StreamTicket> read;

 private:
  LiveTensorCounter* held_ = nullptr;
  at::Tensor counted_;
  step::TensorPurpose kind_{};
};
using PlacedTensorPtr = std::shared_ptr<TensorWithReadyMoment>;

/// One operator of a step with its operands. Gathered parameters and gradients to be reduced are in
/// lists of their own, so that the other operands have the same indices with and without sharding.
struct OperatorWithOperands {
  const step::Operator& op;
  const step::OperatorTemplate& piece;
  const step::TemplateSequenceItem& item;
  std::int32_t layer = -1;  ///< Layer of the model, from 0; -1: outside of the layers.
  /// Identifier of the block whose parameters the operator uses: a layer's index, or a negative
  /// number for the embedding and the head (`step::kEmbeddingBlockNumber`).
  std::int32_t unit = -1;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = -1;  ///< Index of the micro-batch; -1 in an optimizer update.
  std::vector<PlacedTensorPtr> reads = {};
  std::vector<PlacedTensorPtr> writes = {};
  std::vector<PlacedTensorPtr> gathered_reads = {};
  std::vector<PlacedTensorPtr> gathered_writes = {};
};

}  // namespace stepwright::runtime
