#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/compute_cost.h"

namespace stepwright::fit {

/// One timed operator of a table, translated into an operator of this project's cost model.
struct OperatorSample {
  std::string name;  ///< Name of the operator in the table: "linear_qkv", "gemm", ...
  cost::OperatorClass what{};
  step::Operator op;
  /// Seconds of the forward, and of the whole backward (data and weight gradients); nullopt: not
  /// measured.
  std::optional<double> forward_s, backward_s;
  /// Bytes that another kernel reads and writes within `forward_s`: inference engines rotate
  /// queries and keys and fill their cache before the attention.
  double copied_bytes = 0;
  /// Size by which rows are left out together in cross-validation: the hidden size if the table has
  /// one, else the next best (heads, tokens).
  std::int64_t hold_out = 0;
  std::string device;  ///< Name of the built-in device; empty if the table does not state it.
  /// Kernel of an attention; without meaning for other operators.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
  std::size_t line = 0;
};

/// A row of a table of operators that cannot be used, and why.
struct UnusableOperatorRow {
  std::string file;
  std::size_t line = 0;
  /// Short reason why the row cannot be used: "bad value", "duplicate", or why a fit dropped it.
  std::string reason;
  std::string detail;
};

/// The content of one file of timed operators: usable samples, and rows that are not.
struct OperatorSampleTable {
  std::string file;
  std::vector<OperatorSample> samples;
  /// Rows with a value that is no number or not positive, with a missing shape, or repeated.
  std::vector<UnusableOperatorRow> bad;
  /// Rows of the table with an operator, type, device or unit that no class of operators covers, so
  /// that no fit uses them.
  std::vector<UnusableOperatorRow> passed_over;
};

/// True if a table holds timed operators: it has one of the two headers of docs/formats.md,
/// "Samples".
bool table_has_operator_timings(const CsvTable& table);

/// Reads a table of timed operators. Fails with `kInput` if it has neither of the two headers.
OperatorSampleTable read_operator_samples(const CsvTable& table);

/// Operator and class of a row in a table with columns `op,tp,batch,seq,hidden,heads,layers`.
/// `sampled_operator` returns nullopt if `op` is unknown, and fails with `kInput`, naming the
/// field, if a size that the operator needs is missing.
struct SampledOperator {
  cost::OperatorClass what{};
  step::Operator op;
  std::int64_t hold_out = 0;
};
struct SampledSizes {
  std::string op;
  std::int64_t tensor = 1, batch = 0, length = 0, hidden = 0, heads = 0, layers = 0;
};
std::optional<SampledOperator> sampled_operator(const SampledSizes& sizes);

/// Share of the least time at the device's peaks below which a measured time is impossible; from
/// this share up to 1, clocks and caches may explain it.
inline constexpr double kImpossibleOperatorTimeShare = 0.97;
/// Factor between a measured and a predicted time from which the measured one is taken to be in
/// other units than microseconds.
inline constexpr double kSuspectedUnitErrorFactor = 100;

/// Returns the predicted seconds of a timed operator's forward or backward. `cost` must be made for
/// `DeviceLoad::kIsolated`.
inline double predicted_s(const cost::ComputationCostModel& cost, const OperatorSample& sample,
                          cost::OperatorPass pass) {
  return cost.operator_pass_seconds(sample.what, pass, sample.op);
}

}  // namespace stepwright::fit
