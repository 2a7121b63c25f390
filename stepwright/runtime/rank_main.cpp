// stepwright-rank: one rank of a training run. `stepwright train` starts it, or a launcher does.
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/plan/files.h"
#include "stepwright/runtime/executable.h"
#include "stepwright/runtime/held_tensors.h"
#include "stepwright/runtime/launch.h"
#include "stepwright/runtime/train_flags.h"
#include "stepwright/runtime/trainer.h"
#include "stepwright/runtime/watch.h"

namespace stepwright {
namespace {

std::int64_t number(const char* text, std::string_view variable) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < 1 || value > 65535) {
    fail_input(
        fmt::format("{}: '{}' in the environment is no number from 1 to 65535", variable, text));
  }
  return value;
}

c10::intrusive_ptr<c10d::Store> open_store(const LaunchedRank& place, double timeout_s) {
  const char* address = std::getenv("MASTER_ADDR");
  const char* port = std::getenv("MASTER_PORT");
  if (address == nullptr || port == nullptr) {
    fail_input("MASTER_ADDR and MASTER_PORT must be set in the environment of every rank");
  }
  const char* served = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  const bool agent = served != nullptr && std::string_view(served) == "True";
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(number(port, "MASTER_PORT"));
  options.isServer = place.rank == 0 && !agent;
  options.numWorkers = static_cast<std::size_t>(place.size);
  options.waitWorkers = false;
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1000));
  return c10::make_intrusive<c10d::TCPStore>(address, options);
}

/// Each rank of this machine takes its part of the cores, unless OMP_NUM_THREADS says otherwise.
void share_cores(std::int64_t ranks) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return;
  const char* local = std::getenv("LOCAL_WORLD_SIZE");
  const std::int64_t sharers =
      std::max<std::int64_t>(1, local != nullptr ? number(local, "LOCAL_WORLD_SIZE") : ranks);
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  at::set_num_threads(static_cast<int>(std::max<std::int64_t>(1, cores / sharers)));
}

/// Steps as they end, and at the end how long they took beside what was predicted.
class Progress {
 public:
  /// `predicted_s`: 0 when nobody said.
  Progress(const std::string& metrics, double predicted_s)
      : metrics_(metrics), predicted_s_(predicted_s) {}

  void add(const StepReport& report);
  void finish();

 private:
  std::string metrics_;
  double predicted_s_;
  std::ofstream file_;
  std::vector<double> times_s_;
};

void Progress::add(const StepReport& report) {
  const std::string predicted =
      predicted_s_ > 0 ? fmt::format(" (predicted {:.3f} s)", predicted_s_) : "";
  fmt::print(stderr,
             "step {:>6}  loss {:.4f}  norm {:.3f}  {:.0f} tokens/s  {:.3f} s{}  {:.0f} MB\n",
             report.step, report.loss, report.gradient_norm, report.tokens_per_s, report.time_s,
             predicted, report.memory_bytes / 1e6);
  times_s_.push_back(report.time_s);
  if (metrics_.empty()) return;
  if (!file_.is_open()) file_.open(metrics_);
  nlohmann::ordered_json line{{"step", report.step},
                              {"loss", report.loss},
                              {"gradient_norm", report.gradient_norm},
                              {"learning_rate", report.learning_rate},
                              {"time_s", report.time_s},
                              {"tokens_per_s", report.tokens_per_s},
                              {"memory_bytes", report.memory_bytes}};
  if (predicted_s_ > 0) line["predicted_s"] = predicted_s_;
  file_ << line << '\n' << std::flush;
}

void Progress::finish() {
  if (times_s_.empty() || predicted_s_ <= 0) return;
  // The first step also allocates.
  if (times_s_.size() > 1) times_s_.erase(times_s_.begin());
  const auto middle = times_s_.begin() + static_cast<std::ptrdiff_t>(times_s_.size() / 2);
  std::ranges::nth_element(times_s_, middle);
  fmt::print(stderr, "a step took {:.3f} s in the median, {:.2f} times the predicted {:.3f} s\n",
             *middle, *middle / predicted_s_, predicted_s_);
}

std::string own_name() {
  const char* rank = std::getenv("RANK");
  return fmt::format("stepwright-rank {}", rank != nullptr ? rank : "0");
}

/// Ends with whoever started this process on this machine: a rank alone only holds files and cores.
void end_with_parent() {
  const char* parent = std::getenv("STEPWRIGHT_PARENT");
  if (parent == nullptr || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (std::strtoll(parent, nullptr, 10) != ::getppid()) ::_exit(1);  // it ended before
}

[[noreturn]] void end_process(const std::string& message, int code) {
  fmt::print(stderr, "{}: error: {}\n", own_name(), message);
  std::fflush(nullptr);
  ::_exit(code);
}

void run(const TrainOptions& options, double predicted_s) {
  check(options);
  const PlannedJob planned = load_plan(options.plan);
  check_executable(planned);
  const LaunchedRank place = launched_rank().value_or(LaunchedRank{});
  if (place.size != planned.plan.parallel.ranks()) {
    fail_input(fmt::format("{}: the plan has {} ranks, but {} were started", options.plan,
                           planned.plan.parallel.ranks(), place.size));
  }
  share_cores(place.size);
  count_allocations();
  Groups::World world{
      .rank = place.rank,
      .size = place.size,
      .timeout = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000))};
  if (place.size > 1) {
    world.store = open_store(place, options.timeout_s);
  } else {
    world.store = c10::make_intrusive<c10d::HashStore>();
  }
  std::unique_ptr<Watch> watch;
  if (place.size > 1) {
    watch = std::make_unique<Watch>(world.store, place.rank, place.size, end_process);
    world.watch = watch.get();
  }
  Progress progress(options.metrics, predicted_s);
  train(planned, options, world, [&](const StepReport& report) { progress.add(report); });
  progress.finish();
}

int exit_code(ErrorKind kind) {
  return kind == ErrorKind::kInput ? 2 : kind == ErrorKind::kUnsupported ? 3 : 1;
}

}  // namespace

int run_rank(int argc, char** argv) {
  CLI::App app("One rank of a training run; `stepwright train` starts it.", "stepwright-rank");
  TrainOptions options;
  add_train_flags(app, options);
  double predicted_s = 0;
  app.add_option("--predicted", predicted_s, "Seconds that a step is predicted to take");
  CLI11_PARSE(app, argc, argv);
  const std::string who = own_name();
  end_with_parent();
  try {
    run(options, predicted_s);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}: error: {}\n", who, error.what());
    return exit_code(error.kind());
  } catch (const c10::Error& error) {
    fmt::print(stderr, "{}: error: {}\n", who, error.what_without_backtrace());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}\n", who, error.what());
  }
  return 1;
}

}  // namespace stepwright

int main(int argc, char** argv) { return stepwright::run_rank(argc, argv); }
