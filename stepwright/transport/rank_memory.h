#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stepwright/collective/schedule.h"

namespace stepwright::transport {

/// The input, output and scratch buffers of one rank in a collective, as bytes, divided into pieces
/// of equal size. Input and output do not overlap.
struct RankCollectiveBuffers {
  std::span<const std::byte> input;
  std::span<std::byte> output;
  std::span<std::byte> scratch;
  std::int64_t piece_bytes = 0;

  /// Returns the bytes of `pieces` pieces, to be read, starting at the buffer and piece of `run`.
  [[nodiscard]] std::span<const std::byte> readable_piece_bytes(collective::PieceRunStart run,
                                                                std::int32_t pieces) const {
    switch (run.buffer) {
      case collective::RankBufferKind::kOutput: return cut<const std::byte>(output, run, pieces);
      case collective::RankBufferKind::kScratch: return cut<const std::byte>(scratch, run, pieces);
      default: return cut(input, run, pieces);
    }
  }
  /// Returns the bytes of `pieces` pieces of the output or scratch buffer, to be written, starting
  /// at `run`.
  [[nodiscard]] std::span<std::byte> writable_piece_bytes(collective::PieceRunStart run,
                                                          std::int32_t pieces) const {
    return cut(run.buffer == collective::RankBufferKind::kOutput ? output : scratch, run, pieces);
  }

 private:
  template <typename Byte>
  [[nodiscard]] std::span<Byte> cut(std::span<Byte> bytes, collective::PieceRunStart run,
                                    std::int32_t pieces) const {
    return bytes.subspan(static_cast<std::size_t>(run.piece * piece_bytes),
                         static_cast<std::size_t>(pieces * piece_bytes));
  }
};

}  // namespace stepwright::transport
