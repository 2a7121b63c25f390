#include "stepwright/process_group/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "stepwright/transport/greeting.h"

namespace stepwright::process_group {
namespace {

/// Most bytes kept after a call; more are freed.
constexpr std::int64_t kKeptBytes = 64 << 20;

std::span<std::byte> span_of(const at::Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

/// Returns the text on which all ranks must agree.
std::string greeting_of(const CollectiveCall& call, std::int32_t chunks) {
  return fmt::format("{} in {} by {}", call.text, chunks,
                     name_of(collective::kCollectiveAlgorithmNames, call.method));
}

bool overlaps(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

std::int64_t largest_divisor(std::int64_t number, std::int32_t most) {
  for (std::int32_t divisor = most; divisor > 1; --divisor) {
    if (number % divisor == 0) return divisor;
  }
  return 1;
}

}  // namespace

std::span<std::byte> GrowingBuffer::uninitialised_buffer_bytes(std::int64_t bytes) {
  if (bytes > bytes_) {
    free_buffer_memory();
    memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    bytes_ = bytes;
  }
  return {memory_.get(), static_cast<std::size_t>(bytes)};
}

void GrowingBuffer::free_buffer_memory() {
  memory_.reset();
  bytes_ = 0;
}

CollectiveEngine::CollectiveEngine(std::vector<std::int32_t> tiers, std::int32_t rank,
                                   ProcessGroupOptions options,
                                   std::vector<c10::intrusive_ptr<c10d::Backend>> lanes)
    : tiers_(std::move(tiers)),
      ranks_(collective::collective_schedule_rank_count({.tiers = tiers_})),
      rank_(rank),
      options_(std::move(options)),
      transport_(std::move(lanes)),
      executor_({.message_bytes = options_.message_bytes}) {}

std::optional<collective::CollectiveAlgorithm> ProcessGroupOptions::collective_algorithm_for_bytes(
    collective::CollectiveOperation collective, double bytes) const {
  for (const CollectiveAlgorithmForSize& choice : choices) {
    if (choice.collective == collective && bytes <= choice.most_bytes) return choice.method;
  }
  return collective == collective::CollectiveOperation::kAllToAll
             ? collective::CollectiveAlgorithm::kRelay
             : method;
}

const CollectiveEngine::Plan& CollectiveEngine::plan(const CollectiveCall& call,
                                                     std::int32_t chunks) {
  const auto key = std::tuple(call.method, call.collective, chunks);
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  const collective::CollectiveScheduleSpec spec{call.method, call.collective, tiers_, chunks};
  Plan made{collective::empty_collective_schedule(spec),
            collective::generate_rank_schedule(spec, rank_)};
  return plans_.emplace(key, std::move(made)).first->second;
}

void CollectiveEngine::run_collective_call(const CollectiveCall& call) {
  transport_.begin(call.timeout);
  if (call.collective == collective::CollectiveOperation::kAllReduce) {
    run_all_reduce(call);
  } else {
    run_blocks(call);
  }
  note_peak();
  for (GrowingBuffer* room : {&input_, &output_, &scratch_}) {
    if (room->bytes() > kKeptBytes) room->free_buffer_memory();
  }
}

void CollectiveEngine::run_blocks(const CollectiveCall& call) {
  const bool gathers = call.collective == collective::CollectiveOperation::kAllGather;
  const at::Tensor& full = gathers ? call.output : call.input;
  const std::int64_t block = full.numel() / ranks_;
  const std::int64_t bytes = block * full.element_size();
  // The relay sends the data of a whole group as one message; chunks would split it into many.
  const bool relayed = call.collective == collective::CollectiveOperation::kAllToAll;
  const auto chunks = static_cast<std::int32_t>(
      relayed ? 1
              : largest_divisor(block, collective::message_chunks_per_block(
                                           static_cast<double>(bytes),
                                           static_cast<double>(options_.chunk_bytes))));
  const Plan& used = plan(call, chunks);
  transport::check_equal_call_texts(used.schedule, rank_, greeting_of(call, chunks), transport_);
  std::span<const std::byte> input = span_of(call.input);
  // In a gather the input may be the rank's own part of the output, where it belongs anyway.
  if (call.factor || (!gathers && overlaps(input, span_of(call.output)))) {
    input = prepared(call, input, std::ssize(input));
  }
  run_part(call, used, {input, span_of(call.output), block / chunks});
}

void CollectiveEngine::run_all_reduce(const CollectiveCall& call) {
  const std::int64_t element = call.output.element_size();
  const std::int64_t total = call.output.numel();
  const std::int64_t segment =
      std::min(total, std::max<std::int64_t>(1, options_.segment_bytes / element));
  const auto block = static_cast<double>(segment * element) / ranks_;
  const std::int32_t chunks =
      collective::message_chunks_per_block(block, static_cast<double>(options_.chunk_bytes));
  const Plan& used = plan(call, chunks);
  transport::check_equal_call_texts(used.schedule, rank_, greeting_of(call, chunks), transport_);
  const std::span<std::byte> all = span_of(call.output);
  for (std::int64_t first = 0; first < total; first += segment) {
    const std::int64_t count = std::min(segment, total - first);
    const std::int64_t piece = (count + used.frame.pieces - 1) / used.frame.pieces;
    const std::int64_t padded = piece * used.frame.pieces;
    const std::span<std::byte> own = all.subspan(static_cast<std::size_t>(first * element),
                                                 static_cast<std::size_t>(count * element));
    const std::span<const std::byte> input = prepared(call, own, padded * element);
    const std::span<std::byte> output =
        padded == count ? own : output_.uninitialised_buffer_bytes(padded * element);
    run_part(call, used, {input, output, piece});
    if (padded != count) std::memcpy(own.data(), output.data(), own.size());
  }
}

/// Returns a copy of `input` multiplied by the call's factor, with zeros up to `bytes`.
std::span<const std::byte> CollectiveEngine::prepared(const CollectiveCall& call,
                                                      std::span<const std::byte> input,
                                                      std::int64_t bytes) {
  const std::span<std::byte> copy = input_.uninitialised_buffer_bytes(bytes);
  if (!input.empty()) std::memcpy(copy.data(), input.data(), input.size());
  std::ranges::fill(copy.subspan(input.size()), std::byte{0});
  if (call.factor)
    transport::multiply_elements(call.reduction.type, copy.first(input.size()), *call.factor);
  return copy;
}

void CollectiveEngine::run_part(const CollectiveCall& call, const Plan& plan,
                                const ScheduledTensorPart& part) {
  const std::int64_t piece_bytes = part.piece_elements * call.output.element_size();
  const transport::RankCollectiveBuffers memory{
      part.input, part.output,
      scratch_.uninitialised_buffer_bytes(plan.frame.scratch_pieces * piece_bytes), piece_bytes};
  executor_.run_rank_schedule(plan.schedule, memory, call.reduction, transport_);
  if (call.average) transport::divide_elements(call.reduction.type, part.output, ranks_);
}

void CollectiveEngine::note_peak() {
  peak_ = std::max(peak_, input_.bytes() + output_.bytes() + scratch_.bytes() +
                              executor_.receive_staging_buffer_bytes());
}

}  // namespace stepwright::process_group
