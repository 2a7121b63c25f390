#include "stepwright/tune/pipeline_lower_bound.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "stepwright/plan/layer_split.h"
#include "stepwright/schedule/closed_form.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::tune {
namespace {

class PipelineFloor {
 public:
  PipelineFloor(const LeastPlanWork& work, const LayerCountsByClass& layers,
                const PipelineStageChoice& choice, std::int64_t pipeline,
                std::int64_t micro_batches)
      : choice_(choice),
        work_(work),
        layers_(layers),
        each_(
            work.layer_seconds_by_layer_class(plan::common_recompute_of_stages(choice.recompute))),
        placement_(schedule::model_chunk_placement(choice.schedule, pipeline)),
        head_position_(placement_.head_position()),
        closed_(schedule::has_closed_form_schedule_time(choice.schedule.kind)),
        m_(static_cast<double>(micro_batches)),
        head_s_(schedule::traits_of(choice.schedule.kind).spreads_vocabulary ? 0 : work.head_s),
        all_s_(layers.sum_over_layers(each_, 0, layers.layers()) + head_s_),
        slowest_s_(all_s_ / static_cast<double>(pipeline)),
        simulated_s_(m_ * slowest_s_) {}

  PipelineLowerBound run() {
    if (choice_.layers.empty() && plan::all_stages_recompute_equally(choice_.recompute)) {
      see_even();
    } else {
      see_listed();
    }
    return floor();
  }

  /// Returns the floor over the positions seen; if none was seen, as if all positions had equal
  /// work.
  [[nodiscard]] PipelineLowerBound floor() const {
    const double rounds = m_ - 1 / static_cast<double>(placement_.chunks());
    return {.price_s = closed_ ? slowest_s_ * rounds + all_s_ / chunks() : m_ * slowest_s_,
            .simulated_s = simulated_s_};
  }

 private:
  [[nodiscard]] double chunks() const { return static_cast<double>(placement_.chunks()); }

  /// Takes a position into account. `own_s`: its work; `until_s`: the work before its first chunk.
  void see(double own_s, double until_s) {
    slowest_s_ = std::max(slowest_s_, own_s);
    simulated_s_ = std::max(simulated_s_, m_ * own_s + (closed_ ? until_s : 0));
  }

  /// Takes a position of a split into account; `start` gives the first layer of a chunk of the
  /// model.
  template <class Start>
  void see_position(std::int64_t position, Start&& start) {
    const plan::ActivationRecomputation recompute =
        plan::recompute_of_pipeline_rank(choice_.recompute, position);
    const std::vector<double>& each =
        work_.layer_seconds_by_layer_class(plan::common_layer_recompute(recompute));
    double own_s = position == head_position_ ? head_s_ : 0;
    for (std::int64_t i = 0; i < placement_.chunks(); ++i) {
      const std::int64_t chunk = placement_.model_chunk_index({position, i});
      own_s += layers_.sum_over_layers(each, start(chunk), start(chunk + 1));
    }
    see(own_s, layers_.sum_over_layers(each_, 0, start(position)));
  }

  void see_even() {
    const schedule::PipelineScheduleTraits& traits = schedule::traits_of(choice_.schedule.kind);
    const schedule::ModelChunkPlacementKind kind =
        traits.found ? choice_.schedule.basis.placement : traits.placement;
    const std::vector<double>& each = work_.layer_seconds_by_layer_class(
        plan::common_layer_recompute(plan::recompute_of_pipeline_rank(choice_.recompute, 0)));
    for (const LayerCountsByClass::LayersHeldByClass& held :
         layers_.potentially_slowest_even_positions(kind, placement_.positions(),
                                                    placement_.chunks())) {
      see((held.head ? head_s_ : 0) + of(held.own, each), of(held.before, each_));
    }
  }

  /// Returns the seconds of layers, where `layers` is their number and `each` the seconds of one,
  /// by class.
  static double of(const std::vector<double>& layers, const std::vector<double>& each) {
    return std::inner_product(layers.begin(), layers.end(), each.begin(), 0.0);
  }

  [[nodiscard]] std::vector<std::int64_t> split() const {
    return choice_.layers.empty()
               ? plan::even_layer_split(layers_.layers(), placement_.model_chunk_count())
               : choice_.layers;
  }

  void see_listed() {
    std::vector<std::int64_t> starts{0};
    for (const std::int64_t layers : split()) starts.push_back(starts.back() + layers);
    const auto start = [&](std::int64_t chunk) { return starts[static_cast<std::size_t>(chunk)]; };
    for (std::int64_t position = 0; position < placement_.positions(); ++position) {
      see_position(position, start);
    }
  }

  const PipelineStageChoice& choice_;
  const LeastPlanWork& work_;
  const LayerCountsByClass& layers_;
  const std::vector<double>& each_;  ///< Seconds of a layer by class, equal at all positions.
  schedule::ModelChunkPlacement placement_;
  std::int64_t head_position_;
  bool closed_;
  double m_;
  double head_s_;
  double all_s_;
  double slowest_s_;
  double simulated_s_;
};

}  // namespace

PipelineLowerBound pipeline_lower_bound(const LeastPlanWork& work, const LayerCountsByClass& layers,
                                        const PipelineStageChoice& choice, std::int64_t pipeline,
                                        std::int64_t micro_batches) {
  return PipelineFloor(work, layers, choice, pipeline, micro_batches).run();
}

PipelineLowerBound any_layer_split_lower_bound(const LeastPlanWork& work,
                                               const LayerCountsByClass& layers,
                                               const PipelineStageChoice& choice,
                                               std::int64_t pipeline, std::int64_t micro_batches) {
  return PipelineFloor(work, layers, choice, pipeline, micro_batches).floor();
}

}  // namespace stepwright::tune
