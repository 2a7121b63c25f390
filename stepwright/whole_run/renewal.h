#pragma once

namespace stepwright::whole_run {

/// A process that saves its state from time to time on machines that fail (a renewal process).
/// Failures are a Poisson process and can also happen during a restart. Work stops while a state is
/// copied; the state is then written while work continues, and counts as saved once it is written.
/// After a failure and a restart, work continues from the last saved state.
struct Renewal {
  double failures_per_s = 0;  ///< Failures per second of all machines together; 0: none fails.
  double restart_s = 0;
  double copy_s = 0;
  /// Seconds to write a state after the copy. The next copy waits for the end of the write.
  double write_s = 0;
};

/// The time between two consecutive saved states.
struct SaveCycleTime {
  /// Seconds without failures: work, the copy, and the wait for the previous write.
  double planned_s = 0;
  double mean_s = 0;
  double variance_s2 = 0;
};

/// Returns the mean time of a cycle with `work_s` seconds of work between two copies. The formula
/// is exact: with the failure rate r, a period P (`planned_s`) and an attempt of A = restart + work
/// + copy + write after each failure, the mean is e^(r A) (1 - e^(-r P)) / r. Without a hidden
/// write this is Daly's e^(r restart) (e^(r P) - 1) / r (Future Generation Computer Systems 22,
/// 2006, eq. 13).
SaveCycleTime cycle_time(const Renewal& renewal, double work_s);

/// Returns the mean time of the first cycle of a run: no write precedes it, and it waits for its
/// own write.
SaveCycleTime first_cycle_time(const Renewal& renewal, double work_s);

/// Returns the seconds of work between two copies that maximise the share of work: x / r with (1 -
/// x) e^(x + r copy) = 1, but at least the time of a write. Infinite without failures. For small r
/// it is about sqrt(2 copy / r) (Young, CACM 17, 1974).
double best_work_s(const Renewal& renewal);

}  // namespace stepwright::whole_run
