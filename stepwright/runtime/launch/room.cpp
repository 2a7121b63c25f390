#include "stepwright/runtime/launch/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/memory/memory.h"
#include "stepwright/runtime/launch/gpus.h"
#include "stepwright/step/program.h"

namespace stepwright::runtime {
namespace {

constexpr std::size_t kMostText = std::size_t{1} << 20U;
constexpr double kGiB = 1024.0 * 1024 * 1024;

/// Returns the number that follows a key in a text; nullopt where the key is missing.
std::optional<double> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t begin = text.find_first_not_of(" \t", at + key.size());
  double value = 0;
  if (begin == std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::string text_of(const std::filesystem::path& file) {
  return read_regular_file(file, kMostText).value_or("");
}

/// Returns the bytes that a control group (version 2) still allows its processes; nullopt: no
/// limit.
std::optional<double> left_of(const std::filesystem::path& group) {
  const auto limit = number_after(text_of(group / "memory.max"), "");
  const auto used = number_after(text_of(group / "memory.current"), "");
  if (!limit || !used) return std::nullopt;
  // Cached pages of files are reclaimed when memory is needed.
  const double files = number_after(text_of(group / "memory.stat"), "\nfile ").value_or(0);
  return std::max(0.0, *limit - *used + files);
}

}  // namespace

std::optional<double> free_memory_bytes(const std::filesystem::path& root) {
  const std::string machine = text_of(root / "proc/meminfo");
  const auto available = number_after(machine, "MemAvailable:");
  if (!available) return std::nullopt;
  double bytes = 1024 * (*available + number_after(machine, "SwapFree:").value_or(0));
  const std::string own = text_of(root / "proc/self/cgroup");
  const std::size_t at = own.find("0::/");
  if (at == std::string::npos) return bytes;
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  std::filesystem::path inside = own.substr(at + 4, own.find('\n', at) - at - 4);
  for (;; inside = inside.parent_path()) {
    if (const auto left = left_of(groups / inside)) bytes = std::min(bytes, *left);
    if (inside.empty()) return bytes;
  }
}

std::int64_t out_of_memory_kill_count() {
  return static_cast<std::int64_t>(
      number_after(text_of("/proc/vmstat"), "\noom_kill ").value_or(0));
}

double peak_tensor_bytes_over_all_ranks(const plan::PlannedJob& planned) {
  const memory::MemoryReport report =
      memory::memory_report(planned.job, step::build_step_program(planned.job, planned.plan));
  double bytes = 0;
  for (const memory::StageMemory& stage : report.stages) {
    bytes += stage.peak_bytes - stage.kinds[static_cast<std::size_t>(memory::MemoryKind::kReserve)];
  }
  return bytes * static_cast<double>(planned.plan.parallel.ranks()) /
         static_cast<double>(planned.plan.parallel.pipeline);
}

void check_tensors_fit_in_memory(const plan::PlannedJob& planned, const TrainOptions& options) {
  const bool on_gpu = options.device != "cpu" && options.pace <= 1 && !nvidia_gpu_names().empty();
  const auto free = on_gpu ? std::nullopt : free_memory_bytes();
  if (!free) return;
  const double needed = peak_tensor_bytes_over_all_ranks(planned);
  if (needed <= *free) return;
  throw Error(
      ErrorKind::kRuntime,
      fmt::format("{}: training needs {:.1f} GiB for the tensors of all ranks, this machine "
                  "has {:.1f} GiB free",
                  options.plan, needed / kGiB, *free / kGiB));
}

}  // namespace stepwright::runtime
