#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace stepwright::schedule {

/// How the chunks of a model are assigned to pipeline positions.
enum class PlacementKind : std::uint8_t {
  /// Chunk c of the model is on position c mod p: a straight pipeline with one chunk per position,
  /// interleaved with more (2104.04473).
  kCyclic,
  /// Position i holds chunks i and 2p-1-i: down the pipeline and up again (the folded pipeline of
  /// 2411.15871, ZB-V).
  kV,
  /// Position i holds chunks i and p-1-i of p: every chunk is on two positions, and micro-batches
  /// enter from both ends (DualPipe, 2412.19437).
  kMirrored,
};

/// Where a chunk of layers is: a pipeline position, and the chunk's index on it.
struct Place {
  std::int64_t position = 0;
  std::int64_t chunk = 0;
  auto operator<=>(const Place&) const = default;
};

/// The assignment of the model's chunks to positions, and the neighbours of each chunk. A
/// micro-batch follows a route from chunk to chunk; a mirrored placement has two routes, which
/// micro-batches use in turn. Copying does not allocate memory.
class Placement {
 public:
  /// Creates the placement of the whole model on one position.
  Placement() = default;
  /// Creates a placement with `chunks` chunks on each of `positions` positions; `kV` and
  /// `kMirrored` need two chunks.
  Placement(PlacementKind kind, std::int64_t positions, std::int64_t chunks)
      : kind_(kind), positions_(positions), chunks_(chunks) {}

  [[nodiscard]] std::int64_t positions() const { return positions_; }
  /// Chunks of one position.
  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  /// Chunks of the model.
  [[nodiscard]] std::int64_t model_chunks() const {
    return kind_ == PlacementKind::kMirrored ? positions_ : positions_ * chunks_;
  }
  /// The model's chunk at a place.
  [[nodiscard]] std::int64_t model_chunk(const Place& place) const;
  /// The place of a chunk of the model; in a mirrored placement the first of its two places.
  [[nodiscard]] Place holder(std::int64_t model_chunk) const {
    return on_route_of({0, 0}, model_chunk);
  }

  /// The place of the next chunk of a forward; nullopt after the last chunk. If it is on the same
  /// position, nothing is sent.
  [[nodiscard]] std::optional<Place> next(const Place& place) const;
  /// The place of the next chunk of a backward; nullopt before the first chunk.
  [[nodiscard]] std::optional<Place> previous(const Place& place) const;
  /// True if the result of a forward, or of a backward, at this place is sent to another position.
  [[nodiscard]] bool sends_forward(const Place& place) const;
  [[nodiscard]] bool sends_backward(const Place& place) const;

  /// True if the embedding, or the head, is at this place.
  [[nodiscard]] bool holds_embedding(const Place& place) const { return model_chunk(place) == 0; }
  [[nodiscard]] bool holds_head(const Place& place) const {
    return model_chunk(place) + 1 == model_chunks();
  }
  /// True if any chunk of the position holds the embedding, or the head.
  [[nodiscard]] bool holds_embedding(std::int64_t position) const;
  [[nodiscard]] bool holds_head(std::int64_t position) const;

  /// The first position that holds the embedding, or the head.
  [[nodiscard]] std::int64_t embedding_position() const { return holder(0).position; }
  [[nodiscard]] std::int64_t head_position() const { return holder(model_chunks() - 1).position; }

  bool operator==(const Placement&) const = default;

 private:
  [[nodiscard]] Place on_route_of(const Place& place, std::int64_t model_chunk) const;

  PlacementKind kind_ = PlacementKind::kCyclic;
  std::int64_t positions_ = 1;
  std::int64_t chunks_ = 1;
};

inline std::int64_t Placement::model_chunk(const Place& place) const {
  switch (kind_) {
    case PlacementKind::kCyclic: return place.chunk * positions_ + place.position;
    case PlacementKind::kV:
      return place.chunk == 0 ? place.position : 2 * positions_ - 1 - place.position;
    case PlacementKind::kMirrored:
      return place.chunk == 0 ? place.position : positions_ - 1 - place.position;
  }
  return 0;
}

inline Place Placement::on_route_of(const Place& place, std::int64_t model_chunk) const {
  switch (kind_) {
    case PlacementKind::kCyclic: return {model_chunk % positions_, model_chunk / positions_};
    case PlacementKind::kV:
      return model_chunk < positions_ ? Place{model_chunk, 0}
                                      : Place{2 * positions_ - 1 - model_chunk, 1};
    case PlacementKind::kMirrored:
      return {place.chunk == 0 ? model_chunk : positions_ - 1 - model_chunk, place.chunk};
  }
  return {};
}

}  // namespace stepwright::schedule
