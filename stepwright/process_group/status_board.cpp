#include "stepwright/process_group/status_board.h"

#include <fmt/format.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "stepwright/process_group/bounded_store.h"

namespace stepwright::process_group {
namespace {

constexpr std::chrono::milliseconds kStatusPause{20};
constexpr const char* kNoStore =
    "; the group's store does not answer: its server (rank 0 or the launcher) died or hangs";

std::string status_key(int rank) { return fmt::format("stepwright/failed/{}", rank); }

}  // namespace

RankStatusBoard::RankStatusBoard(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size)
    : rank_(rank), size_(size) {
  if (!store) return;
  store_ = c10::make_intrusive<TimeLimitedStore>(
      store,
      TimeLimitedStore::StoreTimeLimits{.patience = std::chrono::seconds(3), .silent = kNoStore});
}

std::string RankStatusBoard::compare_failed_calls(const std::string& call,
                                                  std::chrono::milliseconds grace) try {
  if (!store_) return {};
  store_->set(status_key(rank_), std::vector<std::uint8_t>(call.begin(), call.end()));
  const auto end = std::chrono::steady_clock::now() + grace;
  std::string text;
  std::string silent;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    while (!store_->check({status_key(rank)}) && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(kStatusPause);
    }
    if (!store_->check({status_key(rank)})) {
      silent += fmt::format("{}{}", silent.empty() ? "" : ", ", rank);
      continue;
    }
    const std::vector<std::uint8_t> said = store_->get(status_key(rank));
    const std::string other(said.begin(), said.end());
    if (other != call) text += fmt::format("; rank {} was in {}", rank, other);
  }
  if (!silent.empty()) text += fmt::format("; rank {} does not answer", silent);
  return text;
} catch (const std::exception&) {
  return kNoStore;
}

}  // namespace stepwright::process_group
