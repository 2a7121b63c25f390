#pragma once

namespace stepwright::whole_run {

/// Work that is saved now and then on machines that fail: failures are a Poisson process, while a
/// restart lasts too. A saved state is copied while no work is done and counts only once it is
/// written, beside work; after a failure and a restart work goes on from the last that counts.
struct Renewal {
  double failures_per_s = 0;  ///< Failures of all machines together; 0: none fails.
  double restart_s = 0;
  double copy_s = 0;
  double write_s = 0;  ///< Seconds of the write after the copy. The next copy waits for its end.
};

/// The time from one saved state that counts to the next.
struct CycleTime {
  /// Seconds without failures: work, copy, and waiting for the write before.
  double planned_s = 0;
  double mean_s = 0;
  double variance_s2 = 0;
};

/// Mean time of a cycle with `work_s` seconds of work between two copies. Exact: with the failure
/// rate r, a period P (`planned_s`) and an attempt of A = restart + work + copy + write after each
/// failure the mean is e^(r A) (1 - e^(-r P)) / r; without a hidden write that is Daly's e^(r
/// restart) (e^(r P) - 1) / r (Future Generation Computer Systems 22, 2006, eq. 13).
CycleTime cycle_time(const Renewal& renewal, double work_s);

/// Mean time of the first cycle of a run, which no write comes before: it also waits for its own.
CycleTime first_cycle_time(const Renewal& renewal, double work_s);

/// Seconds of work between two copies with the largest share of work: x / r with
/// (1 - x) e^(x + r copy) = 1, but at least as long as a write takes. Infinite without failures.
/// For small r about sqrt(2 copy / r) (Young, CACM 17, 1974).
double best_work_s(const Renewal& renewal);

}  // namespace stepwright::whole_run
