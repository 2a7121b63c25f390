#pragma once

#include <vector>

#include "stepwright/model/layer_class_index.h"
#include "stepwright/simulate/price/chunk_cost.h"
#include "stepwright/simulate/price/chunk_layer_counts.h"
#include "stepwright/simulate/price/played_pipeline.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Computes the seconds and bytes of all ranks of a pipeline from those of blocks (layers,
/// embedding, head). Reuses its memory between calls.
class PipelinePricer {
 public:
  /// Creates the pricer. `played`: simulates pipeline schedules; it must outlive the pricer.
  PipelinePricer(const plan::Job& job, const cost::CostModel& cost, PipelineSimulator& played);

  /// The cost of one message of activations to the neighbouring pipeline rank. `slow_down`: seconds
  /// that computation at the same time loses per second of the message.
  struct ActivationSendCost {
    double seconds = 0;
    double slow_down = 0;
    /// Seconds of work on the receiver's compute stream for each message that arrives.
    double arrival_s = 0;
    cost::LinkClass link = cost::LinkClass::kNone;
  };
  [[nodiscard]] PipelineCost compose(const ModelBlockCosts& blocks, const plan::Plan& plan,
                                     const ActivationSendCost& send, SimulationExtent played);
  /// Returns the costs of all pipeline ranks, as far as the order of forwards and backwards does
  /// not change them. Writes the seconds and bytes of the model chunks to `parts`, except
  /// `room_bytes`.
  [[nodiscard]] std::vector<PipelinePositionCost> order_independent_position_costs(
      const ModelBlockCosts& blocks, const plan::Plan& plan, const ActivationSendCost& send,
      ModelChunkSecondsAndBytes& parts);

 private:
  [[nodiscard]] bool same_as_before(const plan::Plan& plan, std::int64_t position) const;
  [[nodiscard]] PipelinePositionCost stage(const ModelBlockCosts& blocks, const plan::Plan& plan,
                                           std::int64_t position);
  void add_layers(ModelChunkCost& chunk, PipelinePositionCost& stage, const ModelBlockCosts& blocks,
                  const ModelChunkLayerCounts& content) const;
  void keep_layer_peaks(ModelChunkCost& chunk, const ModelBlockCosts& blocks,
                        const ModelChunkLayerCounts& content) const;
  [[nodiscard]] const BlockPairCost& multi_token(const ModelBlockCosts& blocks,
                                                 std::int64_t chunk) const;
  void add_end(ModelChunkCost& chunk, PipelinePositionCost& stage, const BlockPairCost& cost,
               const step::ModelBlockParameterCounts& size) const;
  void add_head(ModelChunkCost& chunk, PipelinePositionCost& stage, const ModelBlockCosts& blocks,
                const plan::Plan& plan, const schedule::ModelChunkPosition& place) const;
  void add_blocks(ModelChunkCost& chunk, PipelinePositionCost& stage, const ModelBlockCosts& blocks,
                  const plan::Plan& plan, const schedule::ModelChunkPosition& place) const;
  void add_joint(PipelinePositionCost& stage, const ModelBlockCosts& blocks,
                 const plan::Plan& plan);
  void add_passes(PipelinePositionCost& stage, const std::vector<VocabularyPassCost>& passes,
                  std::int64_t barriers);
  [[nodiscard]] PeakBytes activations(const plan::Plan& plan, PipelinePositionCost& stage);
  void set_seconds(const plan::Plan& plan, const PipelinePositionCost& stage, std::int64_t position,
                   const ActivationSendCost& send);
  void set_part_seconds(const schedule::ModelChunkPlacement& placement, std::int64_t position,
                        double share, const ActivationSendCost& send);
  void set_pass_seconds();
  void set_pairs(const ModelBlockCosts& blocks, const plan::Plan& plan, std::int64_t position);
  /// A forward on the current pipeline rank that runs, block by block, beside a backward of another
  /// micro-batch.
  struct PairedForwardTurn;
  [[nodiscard]] PairedForwardTurn pair_turn(const ModelBlockCosts& blocks, const plan::Plan& plan,
                                            const schedule::ModelChunkPosition& forward,
                                            const schedule::ModelChunkPosition& backward,
                                            schedule::Direction direction) const;
  void add_layers(PairedForwardTurn& turn, const ModelBlockCosts& blocks, std::int64_t forward,
                  std::int64_t backward, schedule::Direction direction) const;
  void repeat_position(std::size_t at);
  void set_load(PipelinePositionCost& stage, const plan::Plan& plan,
                const ActivationSendCost& send) const;
  void set_floors(PipelineCost& cost, const plan::Plan& plan, const ActivationSendCost& send);
  void set_turn_floors(PipelineCost& cost, const plan::Plan& plan, SimulationExtent played);
  /// True if the current schedule splits backwards into data and weight gradients.
  [[nodiscard]] bool splits_backwards() const {
    return form_ != schedule::BackwardSplitting::kWhole;
  }
  [[nodiscard]] double pipeline_s(const plan::Plan& plan, std::int64_t micro_batches,
                                  const ActivationSendCost& send);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  model::LayerClassIndex layers_;
  std::vector<std::int64_t> split_;
  /// For each chunk of the model, its numbers of layers by kind (layers of one kind cost the same).
  std::vector<ModelChunkLayerCounts> contents_;
  std::vector<ModelChunkCost> chunks_;  ///< Costs of the model chunks on the current pipeline rank.
  /// For schedules that run a forward beside a backward of another micro-batch: peak bytes of the
  /// two together, beyond those kept before both; indexed by the chunk of the forward.
  std::vector<schedule::Beside<PeakBytes>> pair_peaks_;
  /// Seconds of the forward of one micro-batch, for each pipeline rank.
  std::vector<double> forward_;
  std::vector<double> backward_;
  /// For each chunk index on a pipeline rank: seconds of its forward and backward on the rank that
  /// is slowest for it.
  std::vector<double> slowest_chunk_;
  /// For each pipeline rank: lower bound of the seconds of its first forward (of its first chunk
  /// only).
  std::vector<double> first_forward_floor_;
  std::vector<double> first_backward_floor_;
  /// For each pipeline rank: lower bound of the seconds of one micro-batch's weight gradients, if
  /// backwards are split into data and weight gradients.
  std::vector<double> weight_floor_;
  /// Which backwards the current schedule splits into data and weight gradients: none, all, or
  /// some.
  schedule::BackwardSplitting form_{};
  /// True if the pipeline's seconds come from simulating its schedule turn by turn, not from a
  /// closed form.
  bool plays_ = false;
  /// True if lower bounds of the seconds of schedule entries (forwards, backwards) are needed.
  bool floors_ = false;
  schedule::PipelineScheduleSeconds turn_seconds_;
  /// Lower bounds of the seconds of schedule entries (forwards, backwards), with no message to slow
  /// them down.
  schedule::PipelineScheduleSeconds turn_floors_;
  PipelineSimulator& played_;
};

}  // namespace stepwright::simulate
