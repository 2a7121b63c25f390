#include "stepwright/diagnose/launcher_lines.h"

#include <fmt/format.h>

#include <utility>

#include "stepwright/diagnose/line_origin.h"

namespace stepwright::diagnose {
namespace {

constexpr std::int64_t kInterrupted = 2;
constexpr std::int64_t kKilled = 9;
constexpr std::int64_t kTerminated = 15;  // how launchers end the other ranks

std::string_view signal_name(std::int64_t signal) {
  switch (signal) {
    case 6: return " (SIGABRT)";
    case 7: return " (SIGBUS)";
    case 8: return " (SIGFPE)";
    case kKilled: return " (SIGKILL)";
    case 11: return " (SIGSEGV)";
    default: return "";
  }
}

/// Returns the signal in an exit code such as "-9"; `kUnknown`: the rank exited without a signal
/// (its own lines tell why), or a launcher ended it.
std::int64_t signal_of(std::string_view code) {
  if (!code.starts_with('-')) return logs::kUnknown;
  const std::int64_t signal = whole_number_at_text_start(code.substr(1));
  return signal == kTerminated || signal == kInterrupted ? logs::kUnknown : signal;
}

std::string signal_text(std::int64_t signal) {
  return fmt::format("signal {}{}", signal, signal_name(signal));
}

/// Reads "srun: error: node12: task 3: Killed".
std::optional<LauncherReportedEnd> read_srun(std::string_view line) {
  const std::string_view rest = text_after(line, "task ");
  std::string_view how = text_after(rest, ": ");
  const std::int64_t rank = whole_number_at_text_start(rest);
  if (rank < 0 || how.empty() || line_contains_text(how, "Terminated")) return std::nullopt;
  LauncherReportedEnd end{.rank = rank};
  if (line_contains_text(how, "Killed")) {
    end.what = signal_text(kKilled);
  } else if (line_contains_text(how, "Segmentation fault")) {
    end.what = signal_text(11);
  } else if (line_contains_text(how, "Aborted")) {
    end.what = signal_text(6);
  } else if (!how.starts_with("Exited")) {
    end.what = line_start_for_quoting(how);
  }
  return end;
}

/// Reads "mpirun noticed that process rank 3 with PID 0 on node x exited on signal 9 (Killed)."
std::optional<LauncherReportedEnd> read_mpirun(std::string_view line) {
  const std::int64_t rank = whole_number_at_text_start(text_after(line, "process rank "));
  const std::string_view how = text_after(line, "exited on ");
  if (rank < 0 || how.empty()) return std::nullopt;
  return LauncherReportedEnd{
      .rank = rank, .what = line_start_for_quoting(how.substr(0, how.find_last_not_of(". ") + 1))};
}

/// Reads "failed (exitcode: -9) local_rank: 0 (pid: 598577) of binary: /usr/bin/python".
std::optional<LauncherReportedEnd> read_failed(std::string_view line) {
  const std::int64_t signal = signal_of(text_after(line, "failed (exitcode: "));
  const std::int64_t rank = whole_number_at_text_start(text_after(line, "local_rank: "));
  if (signal < 0 || rank < 0) return std::nullopt;
  return LauncherReportedEnd{.rank = rank, .local = true, .what = signal_text(signal)};
}

/// Reads a shell's report "Killed" or "run.sh: line 7: 4711 Killed   python train.py".
std::optional<LauncherReportedEnd> read_shell(std::string_view line) {
  const bool alone = line.substr(0, line.find_last_not_of(" \t\r") + 1) == "Killed";
  if (!alone && (!line_contains_text(line, ": line ") || !line_contains_text(line, " Killed ")))
    return std::nullopt;
  return LauncherReportedEnd{.rank = logs::kUnknown, .what = signal_text(kKilled)};
}

}  // namespace

std::optional<LauncherReportedEnd> LauncherRankEndParser::read_launcher_log_line(
    std::string_view line) {
  if (line.starts_with("Root Cause (first observed failure)")) root_cause_ = true;
  if (line_contains_text(line, "exitcode") || line.starts_with("  rank ")) {
    return line_contains_text(line, "failed (exitcode: ") ? read_failed(line) : read_block(line);
  }
  if (line_contains_text(line, "srun: error: ")) return read_srun(line);
  if (line_contains_text(line, "noticed that process rank ")) return read_mpirun(line);
  return read_shell(line);
}

/// Reads a block of torchrun's report: "  rank      : 3 (local_rank: 3)", "  exitcode  : -9 (pid:
/// 7)". Blocks before "Root Cause (first observed failure):" are ranks that torchrun ended itself.
std::optional<LauncherReportedEnd> LauncherRankEndParser::read_block(std::string_view line) {
  if (line.starts_with("  rank ")) {
    block_rank_ = whole_number_at_text_start(text_after(line, ": "));
    return std::nullopt;
  }
  if (!line.starts_with("  exitcode ") || block_rank_ < 0) return std::nullopt;
  LauncherReportedEnd end{.rank = std::exchange(block_rank_, logs::kUnknown)};
  const std::int64_t signal = signal_of(text_after(line, ": "));
  if (signal == kKilled && !root_cause_) {
    end.unresponsive = true;
  } else if (signal > 0) {
    end.what = signal_text(signal);
  }
  return end;
}

}  // namespace stepwright::diagnose
