#include "stepwright/runtime/launch/rank_world.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/process_group/bounded_store.h"
#include "stepwright/runtime/launch/rank_frame.h"
#include "stepwright/runtime/messages/rendezvous.h"

namespace stepwright::runtime {
namespace {

/// How much longer than a rank's timeout the store's process may take to answer, so that it can
/// first report ranks that did not come.
constexpr std::chrono::seconds kOpening{3};

std::int64_t number(const char* text, std::string_view variable) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < 1 || value > 65535) {
    fail_input(
        fmt::format("{}: '{}' in the environment is not a number from 1 to 65535", variable, text));
  }
  return value;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// Where the store of the ranks is, as their launcher says.
struct StorePlace {
  std::string address;
  std::uint16_t port = 0;
  std::string server;   ///< The process that serves it, as messages name it.
  bool serves = false;  ///< True if this rank serves it.
  /// Prefix of its keys, since torchrun keeps a store when it starts ranks again.
  std::string prefix;
};

StorePlace store_place(const LaunchedRank& place) {
  const char* address = std::getenv("MASTER_ADDR");
  const char* port = std::getenv("MASTER_PORT");
  if (address == nullptr || port == nullptr) {
    fail_input("MASTER_ADDR and MASTER_PORT must be set in the environment of every rank");
  }
  const char* served = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  const bool agent = served != nullptr && std::string_view(served) == "True";
  const char* attempt = std::getenv("TORCHELASTIC_RESTART_COUNT");
  return {.address = address,
          .port = static_cast<std::uint16_t>(number(port, "MASTER_PORT")),
          .server = agent ? "torchrun" : "rank 0",
          .serves = place.rank == 0 && !agent,
          .prefix = attempt != nullptr ? fmt::format("attempt/{}", attempt) : "attempt/0"};
}

using StorePointer = c10::intrusive_ptr<process_group::TimeLimitedStore>;

/// Opens the store of the ranks. Another program may listen on its port, so no answer is trusted.
StorePointer open_store(const StorePlace& place, std::int64_t ranks,
                        std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = place.port;
  options.isServer = place.serves;
  options.numWorkers = static_cast<std::size_t>(ranks);
  options.waitWorkers = false;
  options.timeout = timeout;
  const auto open = [place, options]() -> c10::intrusive_ptr<c10d::Store> {
    return c10::make_intrusive<c10d::PrefixStore>(
        place.prefix, c10::make_intrusive<c10d::TCPStore>(place.address, options));
  };
  const std::string where = fmt::format("{}:{}", place.address, place.port);
  const std::string silent = fmt::format(
      "{}, which serves the ranks' store at {}, does not answer: it died or hangs, or another "
      "program listens there",
      place.server, where);
  try {
    return c10::make_intrusive<process_group::TimeLimitedStore>(
        open, process_group::TimeLimitedStore::StoreTimeLimits{timeout + kOpening, silent});
  } catch (const c10::Error& error) {
    const std::string_view text = error.what_without_backtrace();
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: {} the ranks' store at {} (MASTER_ADDR, MASTER_PORT): {}",
                            place.server, place.serves ? "cannot serve" : "does not serve", where,
                            text.substr(0, text.find('\n'))));
  }
}

/// Gives each rank of this machine its share of the cores, unless OMP_NUM_THREADS says otherwise.
void share_cores(std::int64_t ranks) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return;
  const char* local = std::getenv("LOCAL_WORLD_SIZE");
  const std::int64_t sharers =
      std::max<std::int64_t>(1, local != nullptr ? number(local, "LOCAL_WORLD_SIZE") : ranks);
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  at::set_num_threads(static_cast<int>(std::max<std::int64_t>(1, cores / sharers)));
}

/// Makes the allocator keep freed memory: a step allocates the same buffers as the one before, and
/// memory from the system would be cleared each time.
void keep_memory() {
  constexpr int kLargest = 32 << 20;  // the largest value that glibc accepts for M_MMAP_THRESHOLD
  ::mallopt(M_MMAP_THRESHOLD, kLargest);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_ARENA_MAX, 1);  // streams are threads, and one reuses memory that another frees
}

std::string own_name() {
  const char* rank = std::getenv("RANK");
  return fmt::format("stepwright-rank {}", rank != nullptr ? one_line_printable_text(rank) : "0");
}

/// Makes this process end when the process that started it on this machine ends: a rank alone only
/// occupies files and cores.
void end_with_parent() {
  const char* parent = std::getenv("STEPWRIGHT_PARENT");
  if (parent == nullptr || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (std::strtoll(parent, nullptr, 10) != ::getppid()) ::_exit(1);  // the parent has already ended
}

void tell_error(std::string_view message) {
  fmt::print(stderr, "{}: error: {}\n", own_name(), terminal_safe_text(message));
}

[[noreturn]] void end_process(const std::string& message, int code) {
  tell_error(message);
  std::fflush(nullptr);
  ::_exit(code);
}

int exit_code(ErrorKind kind) {
  return kind == ErrorKind::kInput ? 2 : kind == ErrorKind::kUnsupported ? 3 : 1;
}

}  // namespace

RankWorldConnection::RankWorldConnection(const LaunchedRank& place, double timeout_s)
    : launcher_(milliseconds(timeout_s), end_process) {
  share_cores(place.size);
  world_.rank = place.rank;
  world_.size = place.size;
  world_.timeout = milliseconds(timeout_s);
  if (place.size == 1) {
    world_.store = c10::make_intrusive<c10d::HashStore>();
    return;
  }
  const StorePlace at = store_place(place);
  const StorePointer store = open_store(at, place.size, world_.timeout);
  world_.store = store;
  claim_rank_number(world_);
  watch_ = std::make_unique<RankWatch>(RankWatch::RankWatchSetup{.store = store,
                                                                 .rank = place.rank,
                                                                 .size = place.size,
                                                                 .timeout = world_.timeout,
                                                                 .server = at.server},
                                       end_process);
  world_.watch = watch_.get();
  tell_failure(world_.watch, [&] { await_all_ranks(world_); });
}

/// Turns off PyTorch's log, which repeats thrown errors with their stack frames and would hide the
/// one message of a rank. TORCH_CPP_LOG_LEVEL turns it on.
void quiet_torch() {
  ::setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
  c10::initLogging();
  c10::SetStackTraceFetcher([] { return std::string(); });
}

int run_as_rank(const std::function<void()>& act) {
  end_with_parent();
  keep_memory();
  quiet_torch();
  try {
    act();
    return 0;
  } catch (const Error& error) {
    tell_error(error.what());
    return exit_code(error.kind());
  } catch (const c10::Error& error) {
    tell_error(error.what_without_backtrace());
  } catch (const std::exception& error) {
    tell_error(error.what());
  }
  return 1;
}

}  // namespace stepwright::runtime
