#pragma once

namespace stepwright::whole_run {

/// Work that is saved from time to time on machines that fail (a renewal process). Failures are a
/// Poisson process and can also happen during a restart. Work stops while a state is copied and
/// goes on while the copy is written; after a failure it resumes from the last written state.
struct RenewalProcess {
  double failures_per_s = 0;  ///< Failures per second of all machines together; 0: none.
  double restart_s = 0;
  double copy_s = 0;
  /// Seconds to write a saved state to storage, after work has stopped for its copy; the next copy
  /// waits for the end of the write.
  double write_s = 0;
};

/// Time from one saved state to the next: without failures, and its mean and variance with
/// failures.
struct SaveCycleTime {
  /// Seconds from one saved state to the next if nothing fails: work, the copy, and the wait for
  /// the previous write.
  double failure_free_s = 0;
  double mean_s = 0;
  double variance_s2 = 0;
};

/// Returns the time from one saved state to the next, with `work_s` seconds of work between them.
/// Exact mean: e^(r A) (1 - e^(-r P)) / r for the failure rate r, the time P of a cycle without
/// failures and A = restart + work + copy + write. Without a hidden write this is Daly's formula
/// (Future Generation Computer Systems 22, 2006, eq. 13).
SaveCycleTime time_between_saved_states(const RenewalProcess& renewal, double work_s);

/// Returns the time from the start of a run to its first saved state: no earlier write delays it,
/// and it includes its own write.
SaveCycleTime first_save_cycle_time(const RenewalProcess& renewal, double work_s);

/// Returns the seconds of work between two saves that maximise the share of time spent on work: x /
/// r with (1 - x) e^(x + r copy) = 1, but at least the time of a write; infinite without failures.
/// About sqrt(2 copy / r) for small r (Young, CACM 17, 1974).
double best_work_between_saves_s(const RenewalProcess& renewal);

}  // namespace stepwright::whole_run
