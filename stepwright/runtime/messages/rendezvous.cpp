#include "stepwright/runtime/messages/rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <thread>

#include "stepwright/core/error.h"
#include "stepwright/process_group/store_text.h"
#include "stepwright/runtime/messages/watch.h"

namespace stepwright::runtime {

using process_group::get_text_from_c10d_store;
using process_group::put_text_into_c10d_store;

namespace {

using KeyOf = std::function<std::string(std::int64_t rank)>;

/// Returns the names of the ranks that have not set their key within the world's timeout.
std::vector<std::string> missing(const RankCommunicators::RankWorld& world, const KeyOf& key_of) {
  const auto until = std::chrono::steady_clock::now() + world.timeout;
  std::vector<std::string> names;
  for (std::int64_t r = 0; r < world.size; ++r) {
    bool here = world.store->check({key_of(r)});
    while (!here && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      here = world.store->check({key_of(r)});
    }
    if (!here) names.push_back(fmt::format("rank {}", r));
  }
  return names;
}

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Waits until all ranks have set their key.
void await(const RankCommunicators::RankWorld& world, const KeyOf& key_of,
           const std::string& what) {
  const RankWatch::WaitForRanksScope waiting(world.watch, what);
  const std::vector<std::string> late = missing(world, key_of);
  if (late.empty()) return;
  const std::string why = fmt::format("{} did not reach {} within {} s", fmt::join(late, ", "),
                                      what, seconds(world.timeout));
  if (world.watch != nullptr) world.watch->end_run_with_reason(why, true, 1);
  throw Error(ErrorKind::kRuntime, why);
}

std::vector<std::string> texts(const RankCommunicators::RankWorld& world, const KeyOf& key_of) {
  std::vector<std::string> all;
  for (std::int64_t r = 0; r < world.size; ++r)
    all.push_back(get_text_from_c10d_store(*world.store, key_of(r)));
  return all;
}

/// Returns the key under which a rank stores its process name.
std::string rank_key(std::int64_t rank) { return fmt::format("world/rank/{}", rank); }

KeyOf shared_key(const std::string& key) {
  return [key](std::int64_t r) { return fmt::format("exchange/{}/{}", key, r); };
}

/// Returns the name by which other processes call this one.
std::string process_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}", ::getpid(), host.data());
}

}  // namespace

void claim_rank_number(const RankCommunicators::RankWorld& world) {
  const std::string own = rank_key(world.rank);
  if (world.store->add(fmt::format("world/number/{}", world.rank), 1) > 1) {
    const std::string holder =
        world.store->check({own}) ? get_text_from_c10d_store(*world.store, own) : "another process";
    fail_input(
        fmt::format("RANK: {} is also the rank of {}; each process needs its own rank, and each "
                    "run its own MASTER_PORT",
                    world.rank, holder));
  }
  put_text_into_c10d_store(*world.store, own, process_name());
}

void await_all_ranks(const RankCommunicators::RankWorld& world) {
  const RankWatch::WaitForRanksScope waiting(world.watch, "the start of the run");
  const std::vector<std::string> late = missing(world, rank_key);
  if (late.empty()) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("{} of {} did not come within {} s (--timeout)", fmt::join(late, ", "),
                          world.size, seconds(world.timeout)));
}

std::vector<std::string> exchange_rank_texts(const RankCommunicators::RankWorld& world,
                                             const std::string& key, const std::string& own) {
  const KeyOf key_of = shared_key(key);
  put_text_into_c10d_store(*world.store, key_of(world.rank), own);
  await(world, key_of, fmt::format("the exchange of '{}'", key));
  return texts(world, key_of);
}

std::vector<std::string> collect_rank_texts(const RankCommunicators::RankWorld& world,
                                            const std::string& key, const std::string& own) {
  const KeyOf key_of = shared_key(key);
  put_text_into_c10d_store(*world.store, key_of(world.rank), own);
  if (world.rank != 0) return {};
  await(world, key_of, fmt::format("the collection of '{}'", key));
  return texts(world, key_of);
}

void end_rank_watch(const RankCommunicators::RankWorld& world) {
  if (world.watch != nullptr) world.watch->stop_watching_ranks();
  put_text_into_c10d_store(*world.store, rank_done_key(world.rank), "");
  if (world.rank == 0) await(world, rank_done_key, "the end of the run");
}

}  // namespace stepwright::runtime
