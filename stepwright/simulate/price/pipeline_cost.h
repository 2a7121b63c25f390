#pragma once

#include <vector>

#include "stepwright/model/layer_class_index.h"
#include "stepwright/simulate/price/chunk_cost.h"
#include "stepwright/simulate/price/chunk_layer_counts.h"
#include "stepwright/simulate/price/played_pipeline.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Computes the costs of all positions of a pipeline from block costs. Reuses its memory between
/// calls.
class PipelinePricer {
 public:
  /// `played` simulates schedules; it must outlive this object.
  PipelinePricer(const plan::Job& job, const cost::CostModel& cost, PipelineSimulator& played);

  /// The cost of one message of activations to the neighbouring pipeline position. `slow_down`:
  /// seconds that computation at the same time loses per second of the message.
  struct ActivationSendCost {
    double seconds = 0;
    double slow_down = 0;
    double arrival_s = 0;  ///< Seconds of the receiver's compute stream that each message takes.
    cost::LinkClass link = cost::LinkClass::kNone;
  };
  [[nodiscard]] PipelineCost compose(const ModelBlockCosts& blocks, const plan::Plan& plan,
                                     const ActivationSendCost& send, SimulationExtent played);
  /// Returns the costs of all pipeline ranks, as far as they do not depend on the order of passes
  /// in the schedule. Sets all members of `parts` except `room_bytes`.
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
  /// A forward of the current position that runs block by block beside a backward of another
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
  /// True if the current schedule cuts backwards into data and weight gradients.
  [[nodiscard]] bool splits_backwards() const {
    return form_ != schedule::BackwardSplitting::kWhole;
  }
  [[nodiscard]] double pipeline_s(const plan::Plan& plan, std::int64_t micro_batches,
                                  const ActivationSendCost& send);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  model::LayerClassIndex layers_;
  std::vector<std::int64_t> split_;
  std::vector<ModelChunkLayerCounts>
      contents_;                        ///< Numbers of layers by kind, for each chunk of the model.
  std::vector<ModelChunkCost> chunks_;  ///< Costs of the chunks of the current position.
  /// For schedules that run a forward beside a backward of another micro-batch: peak bytes of the
  /// two, by chunk of the forward, above the bytes kept before both.
  std::vector<schedule::Beside<PeakBytes>> pair_peaks_;
  /// Seconds of the forward of one micro-batch, by pipeline position.
  std::vector<double> forward_;
  std::vector<double> backward_;
  /// Seconds of forward and backward by chunk of a stage: the maximum over all positions.
  std::vector<double> slowest_chunk_;
  /// Lower bound of the seconds of the first forward of each position (of its first chunk only).
  std::vector<double> first_forward_floor_;
  std::vector<double> first_backward_floor_;
  /// Lower bound of the seconds of one micro-batch's weight gradients, by position, if backwards
  /// are cut.
  std::vector<double> weight_floor_;
  /// How the current schedule cuts backwards: not at all, all of them, or some.
  schedule::BackwardSplitting form_{};
  /// True if the pipeline's seconds come from simulating its schedule turn by turn, not from a
  /// closed form.
  bool plays_ = false;
  /// True if lower bounds of the seconds of turns (schedule entries) are needed.
  bool floors_ = false;
  schedule::PipelineScheduleSeconds turn_seconds_;
  /// Lower bounds of the seconds of turns (schedule entries), with no message to slow them down.
  schedule::PipelineScheduleSeconds turn_floors_;
  PipelineSimulator& played_;
};

}  // namespace stepwright::simulate
