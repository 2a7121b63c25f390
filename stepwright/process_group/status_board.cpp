#include "stepwright/process_group/status_board.h"

#include <fmt/format.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace stepwright::process_group {
namespace {

constexpr std::chrono::milliseconds kStatusPause{20};

std::string status_key(int rank) { return fmt::format("stepwright/failed/{}", rank); }

}  // namespace

std::string StatusBoard::compare(const std::string& call, std::chrono::milliseconds grace) try {
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
  if (!silent.empty()) text += fmt::format("; no word from rank {}", silent);
  return text;
} catch (const std::exception&) {
  return {};
}

}  // namespace stepwright::process_group
