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

/// Rule that chooses how a collective runs by its size: collectives whose full buffer has at most
/// `most_bytes` bytes use the algorithm `method`; nullopt: the wrapped backend, which is faster for
/// them.
struct CollectiveAlgorithmForSize {
  collective::CollectiveOperation collective{};
  double most_bytes = 0;
  std::optional<collective::CollectiveAlgorithm> method;
};

/// Options of the process group that a user can set; they must be equal on all ranks.
struct ProcessGroupOptions {
  collective::CollectiveAlgorithm method = collective::CollectiveAlgorithm::kHoRing;
  /// Least bytes of each chunk into which a block of data is cut, so that one chunk is sent while
  /// another is added; at most 32 chunks.
  std::int64_t chunk_bytes = 128 << 10;
  /// Bytes of an all-reduce that are processed at a time; longer tensors are cut.
  std::int64_t segment_bytes = 64 << 20;
  /// Most bytes of one message between two ranks; longer messages are cut.
  std::int64_t message_bytes = 1 << 20;
  /// Algorithms by size of the full buffer, ascending; they take precedence over `method`.
  std::vector<CollectiveAlgorithmForSize> choices;

  /// Returns the algorithm for a collective whose full buffer has `bytes` bytes; nullopt: the
  /// wrapped backend runs it. An all-to-all without an entry in `choices` runs by the algorithm
  /// `kRelay`.
  [[nodiscard]] std::optional<collective::CollectiveAlgorithm> collective_algorithm_for_bytes(
      collective::CollectiveOperation collective, double bytes) const;
};

/// A collective call on flat, contiguous tensors; for an all-reduce, `input` and `output` are the
/// same tensor.
struct CollectiveCall {
  collective::CollectiveOperation collective{};
  /// Description of the call, equal on all ranks and compared before data is sent: "all_reduce sum
  /// of 12 Float (call 3)".
  std::string text;
  at::Tensor input;
  at::Tensor output;
  transport::CollectiveReduction reduction;
  /// Factor by which every input is multiplied before the sum; nullopt: none.
  std::optional<double> factor;
  bool average = false;  ///< True: the result is the mean over the ranks instead of the sum.
  std::chrono::milliseconds timeout{};
  collective::CollectiveAlgorithm method{};
};

/// A buffer that grows as needed and is kept for later calls.
class GrowingBuffer {
 public:
  /// Returns the first `bytes` bytes of the buffer, with undefined content; spans returned before
  /// must not be used any more.
  std::span<std::byte> uninitialised_buffer_bytes(std::int64_t bytes);
  /// Returns the size of the buffer in bytes.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Frees the memory of the buffer, which is then empty.
  void free_buffer_memory();

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::int64_t bytes_ = 0;
};

/// Runs this rank's part of collectives by explicit schedules of point-to-point messages, one
/// collective after the other.
class CollectiveEngine {
 public:
  /// `tiers`: {ranks per node, nodes} of the group; `rank`: this rank's index in the group;
  /// `lanes`: a backend for each lane of messages, all with the same ranks.
  CollectiveEngine(std::vector<std::int32_t> tiers, std::int32_t rank, ProcessGroupOptions options,
                   std::vector<c10::intrusive_ptr<c10d::Backend>> lanes);

  /// Runs this rank's part of a collective and returns when it is done. Throws errors of the
  /// transport, and `Error{kInput}` if another rank calls a different collective.
  void run_collective_call(const CollectiveCall& call);

  /// Stops the running collective, from another thread; it and all later ones fail.
  void abort() noexcept { transport_.abort(); }
  /// Closes the connections to other ranks. Not allowed while a collective runs.
  void close() { transport_.close(); }

  /// Returns the most bytes that were held at one time for scratch buffers, copied inputs and
  /// messages in flight.
  [[nodiscard]] std::int64_t peak_scratch_bytes() const { return peak_; }

 private:
  struct Plan {
    collective::CollectiveSchedule frame;
    collective::RankCollectiveSchedule schedule;
  };
  /// The part of a tensor that one run of a collective's schedule processes: its input, its output,
  /// and the number of elements in each message's piece.
  struct ScheduledTensorPart {
    std::span<const std::byte> input;
    std::span<std::byte> output;
    std::int64_t piece_elements;
  };

  const Plan& plan(const CollectiveCall& call, std::int32_t chunks);
  void run_blocks(const CollectiveCall& call);
  void run_all_reduce(const CollectiveCall& call);
  void run_part(const CollectiveCall& call, const Plan& plan, const ScheduledTensorPart& part);
  std::span<const std::byte> prepared(const CollectiveCall& call, std::span<const std::byte> input,
                                      std::int64_t bytes);
  void note_peak();

  std::vector<std::int32_t> tiers_;
  std::int32_t ranks_;
  std::int32_t rank_;
  ProcessGroupOptions options_;
  C10dTransport transport_;
  transport::CollectiveScheduleExecutor executor_;
  std::map<
      std::tuple<collective::CollectiveAlgorithm, collective::CollectiveOperation, std::int32_t>,
      Plan>
      plans_;
  GrowingBuffer input_;
  GrowingBuffer output_;
  GrowingBuffer scratch_;
  std::int64_t peak_ = 0;
};

}  // namespace stepwright::process_group
