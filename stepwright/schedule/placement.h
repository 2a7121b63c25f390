#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace stepwright::schedule {

/// How the chunks of a model are assigned to pipeline ranks (p: number of ranks).
enum class ModelChunkPlacementKind : std::uint8_t {
  /// Chunk c of the model is on pipeline rank c mod p of p: a plain pipeline with one chunk per
  /// rank, an interleaved one with more (arXiv 2104.04473).
  kCyclic,
  /// Pipeline rank i of p holds chunks i and 2p-1-i: down the pipeline and up again (the folded
  /// pipeline of arXiv 2411.15871, ZB-V).
  kV,
  /// Pipeline rank i of p holds chunks i and p-1-i of p chunks: every chunk is on two ranks, and
  /// micro-batches enter from both ends (DualPipe, arXiv 2412.19437).
  kMirrored,
};

/// Where a chunk of the model is: its pipeline rank, and its index among the rank's chunks.
struct ModelChunkPosition {
  std::int64_t position = 0;
  std::int64_t chunk = 0;
  auto operator<=>(const ModelChunkPosition&) const = default;
};

/// The assignment of the model's chunks to pipeline ranks, and the neighbours of each chunk. A
/// micro-batch follows a route from chunk to chunk; a mirrored placement has two routes, which
/// micro-batches use alternately. Copying does not allocate memory.
class ModelChunkPlacement {
 public:
  /// Creates the placement of a model that is one chunk on one pipeline rank.
  ModelChunkPlacement() = default;
  /// Creates a placement with `chunks` chunks on each of `positions` pipeline ranks; `kV` and
  /// `kMirrored` need two chunks.
  ModelChunkPlacement(ModelChunkPlacementKind kind, std::int64_t positions, std::int64_t chunks)
      : kind_(kind), positions_(positions), chunks_(chunks) {}

  [[nodiscard]] std::int64_t positions() const { return positions_; }
  /// Returns the number of chunks on each pipeline rank.
  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  /// Returns the number of chunks of the model.
  [[nodiscard]] std::int64_t model_chunk_count() const {
    return kind_ == ModelChunkPlacementKind::kMirrored ? positions_ : positions_ * chunks_;
  }
  /// Returns the index in the model of the chunk at a place (pipeline rank, index on the rank).
  [[nodiscard]] std::int64_t model_chunk_index(const ModelChunkPosition& place) const;
  /// Returns the pipeline rank of a chunk of the model, and its index there; in a mirrored
  /// placement the first of its two places.
  [[nodiscard]] ModelChunkPosition place_of_model_chunk(std::int64_t model_chunk_index) const {
    return on_route_of({0, 0}, model_chunk_index);
  }

  /// Returns where the next chunk of a forward is; nullopt after the last chunk. If it is on the
  /// same pipeline rank, no message is sent.
  [[nodiscard]] std::optional<ModelChunkPosition> next_chunk_place(
      const ModelChunkPosition& place) const;
  /// Returns where the next chunk of a backward is; nullopt after the first chunk of the model.
  [[nodiscard]] std::optional<ModelChunkPosition> next_chunk_place_of_backward(
      const ModelChunkPosition& place) const;
  /// True if a chunk's forward sends its result to another pipeline rank.
  [[nodiscard]] bool forward_leaves_position(const ModelChunkPosition& place) const;
  [[nodiscard]] bool sends_backward(const ModelChunkPosition& place) const;

  /// True if this chunk contains the embedding of the model.
  [[nodiscard]] bool holds_embedding(const ModelChunkPosition& place) const {
    return model_chunk_index(place) == 0;
  }
  [[nodiscard]] bool holds_head(const ModelChunkPosition& place) const {
    return model_chunk_index(place) + 1 == model_chunk_count();
  }
  /// True if any chunk of this pipeline rank contains the embedding of the model.
  [[nodiscard]] bool holds_embedding(std::int64_t position) const;
  [[nodiscard]] bool holds_head(std::int64_t position) const;

  /// Returns the first pipeline rank that holds the embedding of the model.
  [[nodiscard]] std::int64_t embedding_pipeline_position() const {
    return place_of_model_chunk(0).position;
  }
  [[nodiscard]] std::int64_t head_position() const {
    return place_of_model_chunk(model_chunk_count() - 1).position;
  }

  bool operator==(const ModelChunkPlacement&) const = default;

 private:
  [[nodiscard]] ModelChunkPosition on_route_of(const ModelChunkPosition& place,
                                               std::int64_t model_chunk_index) const;

  ModelChunkPlacementKind kind_ = ModelChunkPlacementKind::kCyclic;
  std::int64_t positions_ = 1;
  std::int64_t chunks_ = 1;
};

inline std::int64_t ModelChunkPlacement::model_chunk_index(const ModelChunkPosition& place) const {
  switch (kind_) {
    case ModelChunkPlacementKind::kCyclic: return place.chunk * positions_ + place.position;
    case ModelChunkPlacementKind::kV:
      return place.chunk == 0 ? place.position : 2 * positions_ - 1 - place.position;
    case ModelChunkPlacementKind::kMirrored:
      return place.chunk == 0 ? place.position : positions_ - 1 - place.position;
  }
  return 0;
}

inline ModelChunkPosition ModelChunkPlacement::on_route_of(const ModelChunkPosition& place,
                                                           std::int64_t model_chunk_index) const {
  switch (kind_) {
    case ModelChunkPlacementKind::kCyclic:
      return {model_chunk_index % positions_, model_chunk_index / positions_};
    case ModelChunkPlacementKind::kV:
      return model_chunk_index < positions_
                 ? ModelChunkPosition{model_chunk_index, 0}
                 : ModelChunkPosition{2 * positions_ - 1 - model_chunk_index, 1};
    case ModelChunkPlacementKind::kMirrored:
      return {place.chunk == 0 ? model_chunk_index : positions_ - 1 - model_chunk_index,
              place.chunk};
  }
  return {};
}

}  // namespace stepwright::schedule
