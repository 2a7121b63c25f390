#include "stepwright/schedule/placement.h"

namespace stepwright::schedule {

std::optional<Place> Placement::next(const Place& place) const {
  if (holds_head(place)) return std::nullopt;
  return on_route_of(place, model_chunk(place) + 1);
}

std::optional<Place> Placement::previous(const Place& place) const {
  if (holds_embedding(place)) return std::nullopt;
  return on_route_of(place, model_chunk(place) - 1);
}

bool Placement::sends_forward(const Place& place) const {
  const std::optional<Place> to = next(place);
  return to && to->position != place.position;
}

bool Placement::sends_backward(const Place& place) const {
  const std::optional<Place> to = previous(place);
  return to && to->position != place.position;
}

bool Placement::holds_embedding(std::int64_t position) const {
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    if (holds_embedding(Place{position, chunk})) return true;
  }
  return false;
}

bool Placement::holds_head(std::int64_t position) const {
  for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
    if (holds_head(Place{position, chunk})) return true;
  }
  return false;
}

}  // namespace stepwright::schedule
