#include "stepwright/step/plan_turns.h"

#include <map>
#include <utility>

#include "stepwright/plan/placement.h"
#include "stepwright/step/layer.h"
#include "stepwright/step/rough_seconds.h"
#include "stepwright/step/schedules/found.h"
#include "stepwright/step/split_backward.h"

namespace stepwright {
namespace {

/// Seconds of a plan's blocks, each built once.
class RoughBlocks {
 public:
  RoughBlocks(const Job& job, const Plan& plan)
      : setting_(make_setting(job, plan)), seconds_(job, Grid(plan)) {}

  const PartSeconds& layer(LayerClass which, const LayerRecompute& kind) {
    const auto [entry, fresh] = layers_.try_emplace({which, kind});
    if (!fresh) return entry->second;
    const BlockPair pair = build_layer(setting_, which, kind);
    const SplitBackward parts = split_backward(pair.backward);
    return entry->second = {.forward = of(pair.forward),
                            .backward = of(pair.backward),
                            .data = of(parts.data),
                            .weight = of(parts.weight)};
  }
  [[nodiscard]] PartSeconds embedding() const { return whole(build_embedding(setting_)); }
  [[nodiscard]] PartSeconds head() const { return whole(build_head(setting_, false)); }
  [[nodiscard]] double hop_s() const { return of(build_send(setting_, Direction::kForward)); }

 private:
  /// The first and the last block of the model are not cut.
  [[nodiscard]] PartSeconds whole(const BlockPair& pair) const {
    const double backward = of(pair.backward);
    return {.forward = of(pair.forward), .backward = backward, .data = backward, .weight = 0};
  }
  /// What stands on the compute stream, or a message that stands alone.
  [[nodiscard]] double of(const Template& piece) const {
    double sum = 0;
    for (const Operator& op : piece.operators) {
      if (op.stream == Stream::kCompute || piece.operators.size() == 1) sum += seconds_(op);
    }
    return sum;
  }

  Setting setting_;
  RoughSeconds seconds_;
  std::map<std::pair<LayerClass, LayerRecompute>, PartSeconds> layers_;
};

void add(PartSeconds& sum, const PartSeconds& other) {
  sum.forward += other.forward;
  sum.backward += other.backward;
  sum.data += other.data;
  sum.weight += other.weight;
}

}  // namespace

TurnSeconds rough_turn_seconds(const Job& job, const Plan& plan) {
  RoughBlocks blocks(job, plan);
  const Placement placement = placement_of(plan);
  const std::vector<std::int64_t> layers = chunk_layers(job, plan);
  TurnSeconds seconds;
  seconds.hop_s = blocks.hop_s();
  seconds.parts.assign(static_cast<std::size_t>(placement.positions()),
                       std::vector<PartSeconds>(static_cast<std::size_t>(placement.chunks())));
  std::int64_t layer = 0;
  for (std::int64_t chunk = 0; chunk < placement.model_chunks(); ++chunk) {
    const Place place = placement.holder(chunk);
    PartSeconds& part =
        seconds
            .parts[static_cast<std::size_t>(place.position)][static_cast<std::size_t>(place.chunk)];
    for (std::int64_t i = 0; i < layers[static_cast<std::size_t>(chunk)]; ++i, ++layer) {
      add(part, blocks.layer(job.model.layer_class(layer), layer_recompute(plan.recompute, i)));
    }
    if (placement.holds_embedding(place)) add(part, blocks.embedding());
    if (placement.holds_head(place)) add(part, blocks.head());
  }
  return seconds;
}

std::vector<Turns> turns_of(const Plan& plan, std::int64_t micro_batches,
                            const TurnSeconds& seconds) {
  const std::int64_t stages = plan.parallel.pipeline;
  if (!traits_of(plan.schedule.kind).found) {
    return all_turns(plan.schedule, stages, micro_batches);
  }
  return found_turns({.placement = placement_of(plan),
                      .micro_batches = micro_batches,
                      .seconds = seconds,
                      .most_activations = static_cast<double>(stages)});
}

std::vector<Turns> plan_turns(const Job& job, const Plan& plan) {
  const bool found = traits_of(plan.schedule.kind).found;
  return turns_of(plan, micro_batches(job, plan),
                  found ? rough_turn_seconds(job, plan) : TurnSeconds{});
}

}  // namespace stepwright
