#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "stepwright/collective/generate.h"
#include "stepwright/process_group/c10d_transport.h"
#include "stepwright/transport/schedule_executor.h"

namespace stepwright::process_group {

/// The algorithm (`method`) for an operation whose full buffer has at most `most_bytes` bytes;
/// nullopt: the wrapped backend is faster.
struct SizeChoice {
  collective::Collective collective{};
  double most_bytes = 0;
  std::optional<collective::Algorithm> method;
};

/// The options that a person can choose; they must be equal on all ranks.
struct EngineOptions {
  collective::Algorithm method = collective::Algorithm::kHoRing;
  /// Bytes of a block into which a collective is cut (`chunks_of`).
  std::int64_t chunk_bytes = 128 << 10;
  std::int64_t segment_bytes = 64 << 20;  ///< Bytes of an all-reduce that are processed at a time.
  std::int64_t message_bytes = 1 << 20;   ///< Most bytes of a message between two ranks.
  /// Choices by size, ascending; they take precedence over `method`.
  std::vector<SizeChoice> choices;

  /// Returns the algorithm of an operation; nullopt: the wrapped backend. An all-to-all without a
  /// choice runs as a relay.
  [[nodiscard]] std::optional<collective::Algorithm> method_for(collective::Collective collective,
                                                                double bytes) const;
};

/// A collective on flat, contiguous tensors. For an all-reduce, `input` is the same tensor as
/// `output`.
struct CollectiveCall {
  collective::Collective collective{};
  std::string text;  ///< Description, equal on all ranks: "all_reduce sum of 12 Float (call 3)".
  at::Tensor input;
  at::Tensor output;
  transport::Reduction reduction;
  std::optional<double> factor;  ///< Factor on every input before the sum; nullopt: none.
  bool average = false;          ///< True: the sum is divided by the number of ranks.
  std::chrono::milliseconds timeout{};
  collective::Algorithm method{};
};

/// Memory that is kept for later calls.
class Room {
 public:
  /// Returns a span of `bytes` bytes with undefined content; spans taken before become invalid.
  std::span<std::byte> take(std::int64_t bytes);
  /// Returns the number of bytes kept.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Frees the memory that was kept.
  void release();

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::int64_t bytes_ = 0;
};

/// Runs one rank's part of collectives, one after the other.
class Engine {
 public:
  /// `tiers`: {members, nodes} of the group; `rank`: index in the group; `lanes` as in
  /// `C10dTransport`.
  Engine(std::vector<std::int32_t> tiers, std::int32_t rank, EngineOptions options,
         std::vector<c10::intrusive_ptr<c10d::Backend>> lanes);

  /// Runs a collective. Throws what the transport throws, and `Error{kInput}` when another rank
  /// calls something else.
  void run(const CollectiveCall& call);

  /// Ends a run from another thread; later runs fail.
  void abort() noexcept { transport_.abort(); }
  /// Closes the connections. Not allowed during a run.
  void close() { transport_.close(); }

  /// Returns the most bytes of scratch, copies of inputs and messages that were held at a time.
  [[nodiscard]] std::int64_t peak_scratch_bytes() const { return peak_; }

 private:
  struct Plan {
    collective::CollectiveSchedule frame;
    collective::RankSchedule schedule;
  };
  /// The input and output of one schedule run, and elements of a piece.
  struct Part {
    std::span<const std::byte> input;
    std::span<std::byte> output;
    std::int64_t piece_elements;
  };

  const Plan& plan(const CollectiveCall& call, std::int32_t chunks);
  void run_blocks(const CollectiveCall& call);
  void run_all_reduce(const CollectiveCall& call);
  void run_part(const CollectiveCall& call, const Plan& plan, const Part& part);
  std::span<const std::byte> prepared(const CollectiveCall& call, std::span<const std::byte> input,
                                      std::int64_t bytes);
  void note_peak();

  std::vector<std::int32_t> tiers_;
  std::int32_t ranks_;
  std::int32_t rank_;
  EngineOptions options_;
  C10dTransport transport_;
  transport::ScheduleExecutor executor_;
  std::map<std::tuple<collective::Algorithm, collective::Collective, std::int32_t>, Plan> plans_;
  Room input_;
  Room output_;
  Room scratch_;
  std::int64_t peak_ = 0;
};

}  // namespace stepwright::process_group
