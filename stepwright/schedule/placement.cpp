#include "stepwright/schedule/placement.h"

namespace stepwright::schedule {

std::optional<ModelChunkPosition> ModelChunkPlacement::next_chunk_place(
    const ModelChunkPosition& place) const {
  if (holds_head(place)) return std::nullopt;
  return on_route_of(place, model_chunk_index(place) + 1);
}

std::optional<ModelChunkPosition> ModelChunkPlacement::next_chunk_place_of_backward(
    const ModelChunkPosition& place) const {
  if (holds_embedding(place)) return std::nullopt;
  return on_route_of(place, model_chunk_index(place) - 1);
}

bool ModelChunkPlacement::forward_leaves_position(const ModelChunkPosition& place) const {
  const std::optional<ModelChunkPosition> to = next_chunk_place(place);
  return to && to->position != place.position;
}

bool ModelChunkPlacement::sends_backward(const ModelChunkPosition& place) const {
  const std::optional<ModelChunkPosition> to = next_chunk_place_of_backward(place);
  return to && to->position != place.position;
}

bool ModelChunkPlacement::holds_embedding(std::int64_t position) const {
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    if (holds_embedding(ModelChunkPosition{position, chunk})) return true;
  }
  return false;
}

bool ModelChunkPlacement::holds_head(std::int64_t position) const {
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    if (holds_head(ModelChunkPosition{position, chunk})) return true;
  }
  return false;
}

}  // namespace stepwright::schedule
