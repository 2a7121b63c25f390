#include "stepwright/schedule/placement.h"

namespace stepwright::schedule {

std::optional<ChunkPlace> Placement::next(const ChunkPlace& place) const {
  if (holds_head(place)) return std::nullopt;
  return on_route_of(place, model_chunk_index(place) + 1);
}

std::optional<ChunkPlace> Placement::previous_chunk_place(const ChunkPlace& place) const {
  if (holds_embedding(place)) return std::nullopt;
  return on_route_of(place, model_chunk_index(place) - 1);
}

bool Placement::sends_forward(const ChunkPlace& place) const {
  const std::optional<ChunkPlace> to = next(place);
  return to && to->position != place.position;
}

bool Placement::sends_backward(const ChunkPlace& place) const {
  const std::optional<ChunkPlace> to = previous_chunk_place(place);
  return to && to->position != place.position;
}

bool Placement::holds_embedding(std::int64_t position) const {
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    if (holds_embedding(ChunkPlace{position, chunk})) return true;
  }
  return false;
}

bool Placement::holds_head(std::int64_t position) const {
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    if (holds_head(ChunkPlace{position, chunk})) return true;
  }
  return false;
}

}  // namespace stepwright::schedule
