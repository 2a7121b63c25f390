#pragma once

#include <limits>
#include <vector>

#include "stepwright/model/layer_order.h"
#include "stepwright/simulate/price/played_pipeline.h"
#include "stepwright/simulate/price/pricer.h"

namespace stepwright {

/// Composes block costs into the positions of a pipeline. Keeps what it needs of the model between
/// calls.
class PipelinePricer {
 public:
  /// `played` must outlive it.
  PipelinePricer(const Job& job, const CostModel& cost, PlayedPipeline& played);

  /// One message of the residual stream to the neighbouring position, and the share of its time
  /// that computation beside it loses.
  struct Send {
    double seconds = 0;
    double slow_down = 0;
    double arrival_s = 0;  ///< On the compute stream of the receiver.
    LinkClass link = LinkClass::kNone;
  };
  [[nodiscard]] PipelineCost compose(const BlockCosts& blocks, const Plan& plan, const Send& send,
                                     Played played);
  /// The parts of all positions that do not depend on an order; `parts` without room.
  [[nodiscard]] std::vector<StageCost> parts(const BlockCosts& blocks, const Plan& plan,
                                             const Send& send, PipelineParts& parts);

 private:
  /// Layers of one chunk by class and by whether they are among those that `every: n` recomputes,
  /// and where block costs have both.
  struct Content {
    std::int64_t layers = 0;
    Recompute recompute;
    std::size_t plain_place = 0;
    std::size_t recomputed_place = 0;
    std::vector<std::int64_t> plain;
    std::vector<std::int64_t> recomputed;
    bool operator==(const Content&) const = default;

    /// Whether a layer counts among the recomputed: without `every: n` none does.
    [[nodiscard]] bool again(std::int64_t layer) const {
      return recompute.every > 1 && is_recomputed(recompute, layer);
    }
    /// In the block costs of a layer.
    [[nodiscard]] std::size_t place(std::int64_t layer) const {
      return again(layer) ? recomputed_place : plain_place;
    }
  };
  /// One chunk for one micro-batch. Peaks are largest moments, with what its layers before keep.
  struct Chunk {
    BlockCost forward{};
    BlockCost backward{};  ///< Of a cut one the data gradients, and what is not cut.
    BlockCost weight{};    ///< Of a cut one the rest.
    BlockCost whole{};     ///< Both, where some are whole beside others that are cut.
    PeakBytes forward_peak;
    PeakBytes backward_peak;
    PeakBytes weight_peak;
    PeakBytes whole_peak;
    UnitSize cut_size;  ///< Parameters of blocks whose backward is cut.
    /// Of them those of blocks whose data gradients begin to write gradients that leave: norms do,
    /// adapters do not.
    UnitSize begun_size;
    /// The bytes beyond data gradients of cut backwards: the least that a block needs beyond what
    /// it keeps for its weight gradients.
    double data_beyond_bytes = std::numeric_limits<double>::infinity();

    /// Adds `count` blocks alike; `after_bytes`: kept by others that follow the last of them.
    void add(const BlockCost& once, const BlockCost& back, double count, double after_bytes);
    void add_weight(const SplitCost& split, double count, double after_bytes);
    void add_whole(const BlockCost& once, const BlockCost& both, double count, double after_bytes);
    /// Both gradients of a micro-batch.
    [[nodiscard]] BlockCost gradients(BackwardForm form) const;
    [[nodiscard]] PeakBytes data_peak() const;
    /// The bytes of parts that may be cut or not.
    [[nodiscard]] ChunkBytes bytes() const;
  };
  void count_layers(const BlockCosts& blocks, const Plan& plan);
  [[nodiscard]] bool same_as_before(const Plan& plan, std::int64_t position) const;
  [[nodiscard]] StageCost stage(const BlockCosts& blocks, const Plan& plan, std::int64_t position);
  void add_layers(Chunk& chunk, StageCost& stage, const BlockCosts& blocks,
                  const Content& content) const;
  [[nodiscard]] const BlockPairCost& multi_token(const BlockCosts& blocks,
                                                 std::int64_t chunk) const;
  void add_ends(Chunk& chunk, StageCost& stage, const BlockCosts& blocks, const Plan& plan,
                const Place& place) const;
  [[nodiscard]] PeakBytes activations(const Plan& plan, StageCost& stage);
  [[nodiscard]] PeakBytes waiting_bytes(const Plan& plan, std::int64_t position) const;
  [[nodiscard]] PeakBytes played_bytes(const std::vector<Moment>& fullest, StageCost& stage) const;
  void set_seconds(const Plan& plan, const StageCost& stage, std::int64_t position,
                   const Send& send);
  void set_part_seconds(const Placement& placement, std::int64_t position, double share,
                        const Send& send);
  void set_pair_seconds(const BlockCosts& blocks, const Plan& plan, std::int64_t position);
  struct PairSeconds {
    double seconds = 0;
    double least_s = 0;
  };
  [[nodiscard]] PairSeconds pair_layers(const BlockCosts& blocks, std::int64_t forward,
                                        std::int64_t backward, Direction direction) const;
  void repeat_position(std::size_t at);
  void set_load(StageCost& stage, const Plan& plan, const Send& send) const;
  void set_floors(PipelineCost& cost, const Plan& plan, const Send& send);
  void set_turn_floors(PipelineCost& cost, const Plan& plan, Played played);
  /// Whether the schedule at hand cuts backwards.
  [[nodiscard]] bool cuts() const { return form_ != BackwardForm::kWhole; }
  [[nodiscard]] double pipeline_s(const Plan& plan, std::int64_t micro_batches, const Send& send);

  const Job& job_;
  const CostModel& cost_;
  LayerOrder layers_;
  std::vector<std::int64_t> split_;
  std::vector<Content> contents_;  ///< Per chunk of the model.
  std::vector<Chunk> chunks_;      ///< Of the position at hand.
  std::vector<double> forward_;    ///< Per position: seconds of one micro-batch.
  std::vector<double> backward_;
  std::vector<double> slowest_chunk_;        ///< Per chunk of a stage: the most of all positions.
  std::vector<double> first_forward_floor_;  ///< Per position: of its first chunk.
  std::vector<double> first_backward_floor_;
  std::vector<double> weight_floor_;  ///< Per position: of all its weight gradients, if cut.
  BackwardForm form_{};               ///< Of the schedule at hand.
  bool plays_ = false;                ///< Whether its turns are played for their seconds.
  bool floors_ = false;               ///< Whether floors of its turns are asked for.
  TurnSeconds turn_seconds_;
  TurnSeconds turn_floors_;  ///< Nothing slows these parts down.
  PlayedPipeline& played_;
};

}  // namespace stepwright
