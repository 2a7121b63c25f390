#pragma once

#include <vector>

#include "stepwright/model/layer_order.h"
#include "stepwright/simulate/price/chunk_content.h"
#include "stepwright/simulate/price/chunk_cost.h"
#include "stepwright/simulate/price/played_pipeline.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright::simulate {

/// Composes block costs into the positions of a pipeline. Reuses its memory between calls.
class PipelinePricer {
 public:
  /// `played` must outlive it.
  PipelinePricer(const plan::Job& job, const cost::CostModel& cost, PipelineSimulator& played);

  /// The cost of one message of the residual stream to the neighbouring position. `slow_down`: the
  /// share of its time that computation beside it loses.
  struct Send {
    double seconds = 0;
    double slow_down = 0;
    double arrival_s = 0;  ///< Seconds that the receiver's compute stream spends on the message.
    cost::LinkClass link = cost::LinkClass::kNone;
  };
  [[nodiscard]] PipelineCost compose(const BlockCosts& blocks, const plan::Plan& plan,
                                     const Send& send, SimulationExtent played);
  /// Returns the costs of all positions as far as they do not depend on the order of a schedule,
  /// and fills `parts`, all but `room_bytes`.
  [[nodiscard]] std::vector<StageCost> parts(const BlockCosts& blocks, const plan::Plan& plan,
                                             const Send& send, PipelineParts& parts);

 private:
  [[nodiscard]] bool same_as_before(const plan::Plan& plan, std::int64_t position) const;
  [[nodiscard]] StageCost stage(const BlockCosts& blocks, const plan::Plan& plan,
                                std::int64_t position);
  void add_layers(ChunkCost& chunk, StageCost& stage, const BlockCosts& blocks,
                  const ChunkContent& content) const;
  void keep_layer_peaks(ChunkCost& chunk, const BlockCosts& blocks,
                        const ChunkContent& content) const;
  [[nodiscard]] const BlockPairCost& multi_token(const BlockCosts& blocks,
                                                 std::int64_t chunk) const;
  void add_end(ChunkCost& chunk, StageCost& stage, const BlockPairCost& cost,
               const step::UnitSize& size) const;
  void add_head(ChunkCost& chunk, StageCost& stage, const BlockCosts& blocks,
                const plan::Plan& plan, const schedule::Place& place) const;
  void add_blocks(ChunkCost& chunk, StageCost& stage, const BlockCosts& blocks,
                  const plan::Plan& plan, const schedule::Place& place) const;
  void add_joint(StageCost& stage, const BlockCosts& blocks, const plan::Plan& plan);
  void add_passes(StageCost& stage, const std::vector<PassCost>& passes, std::int64_t barriers);
  [[nodiscard]] PeakBytes activations(const plan::Plan& plan, StageCost& stage);
  void set_seconds(const plan::Plan& plan, const StageCost& stage, std::int64_t position,
                   const Send& send);
  void set_part_seconds(const schedule::Placement& placement, std::int64_t position, double share,
                        const Send& send);
  void set_pass_seconds();
  void set_pairs(const BlockCosts& blocks, const plan::Plan& plan, std::int64_t position);
  /// A turn of two parts of the present position, block by block.
  struct PairTurn;
  [[nodiscard]] PairTurn pair_turn(const BlockCosts& blocks, const plan::Plan& plan,
                                   const schedule::Place& forward, const schedule::Place& backward,
                                   schedule::Direction direction) const;
  void add_layers(PairTurn& turn, const BlockCosts& blocks, std::int64_t forward,
                  std::int64_t backward, schedule::Direction direction) const;
  void repeat_position(std::size_t at);
  void set_load(StageCost& stage, const plan::Plan& plan, const Send& send) const;
  void set_floors(PipelineCost& cost, const plan::Plan& plan, const Send& send);
  void set_turn_floors(PipelineCost& cost, const plan::Plan& plan, SimulationExtent played);
  /// True if the present schedule cuts backwards.
  [[nodiscard]] bool cuts() const { return form_ != schedule::BackwardForm::kWhole; }
  [[nodiscard]] double pipeline_s(const plan::Plan& plan, std::int64_t micro_batches,
                                  const Send& send);

  const plan::Job& job_;
  const cost::CostModel& cost_;
  model::LayerOrder layers_;
  std::vector<std::int64_t> split_;
  std::vector<ChunkContent> contents_;  ///< Layers of each chunk of the model.
  std::vector<ChunkCost> chunks_;       ///< Chunks of the present position.
  /// By chunk of the present position, if two strands run: the peak of its forward beside a part of
  /// a backward, above the bytes that wait before both.
  std::vector<schedule::Beside<PeakBytes>> pair_peaks_;
  std::vector<double> forward_;  ///< Forward seconds of one micro-batch, by position.
  std::vector<double> backward_;
  /// Seconds by chunk of a stage: the most over all positions.
  std::vector<double> slowest_chunk_;
  /// Lower bound of the first forward, by position: its first chunk only.
  std::vector<double> first_forward_floor_;
  std::vector<double> first_backward_floor_;
  /// Lower bound of all weight gradients, by position, if backwards are cut.
  std::vector<double> weight_floor_;
  schedule::BackwardForm form_{};  ///< Form of backwards in the present schedule.
  bool plays_ = false;             ///< True if its turns are simulated for their seconds.
  bool floors_ = false;            ///< True if lower bounds of its turns are asked for.
  schedule::TurnSeconds turn_seconds_;
  /// Least seconds of parts, with no message to slow them down.
  schedule::TurnSeconds turn_floors_;
  PipelineSimulator& played_;
};

}  // namespace stepwright::simulate
