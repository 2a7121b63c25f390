#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/compute_cost.h"

namespace stepwright::fit {

/// One measured operator, translated into an operator of this project.
struct OperatorSample {
  std::string name;  ///< Name in the table: "linear_qkv", "gemm", ...
  cost::OperatorClass what{};
  step::Operator op;
  /// Seconds of the forward, and of the whole backward (both gradients); nullopt: not measured.
  std::optional<double> forward_s, backward_s;
  /// Bytes that another kernel reads and writes within `forward_s`: inference engines rotate
  /// queries and keys and fill their cache before an attention.
  double copied_bytes = 0;
  /// The size by which rows are left out together: the hidden size where the table has one, else
  /// the next best (heads, tokens).
  std::int64_t hold_out = 0;
  std::string device;  ///< Built-in device; empty when the table does not state it.
  /// Kernel of an attention; of no meaning for other operators.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
  std::size_t line = 0;
};

/// A row that cannot be used.
struct BadRow {
  std::string file;
  std::size_t line = 0;
  std::string reason;  ///< Reason in short: "bad value", "duplicate", or why a fit dropped the row.
  std::string detail;
};

/// The operator samples of one file.
struct OperatorTable {
  std::string file;
  std::vector<OperatorSample> samples;
  /// Rows with a value that is no number or not positive, without a shape, or repeated.
  std::vector<BadRow> bad;
  /// Rows with an operator, type, device or unit that no class covers.
  std::vector<BadRow> passed_over;
};

/// True if a table has operator samples: one of the two headers of docs/formats.md, "Samples".
bool has_operator_samples(const CsvTable& table);

/// Reads a table of operator samples. Fails with `kInput` when it has neither of the two headers.
OperatorTable read_operator_samples(const CsvTable& table);

/// The operator and class of a row in a table with columns `op,tp,batch,seq,hidden,heads,layers`.
/// `sampled_operator` returns nullopt if `op` is unknown, and fails with `kInput`, naming the
/// field, when a size that the operator needs is missing.
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

/// A time below this share of the least time at the device's peaks is impossible; from this share
/// up to 1, clocks and caches may explain it.
inline constexpr double kImpossibleTimeShare = 0.97;
/// A time that differs by this factor from the model's is in other units than microseconds.
inline constexpr double kWrongUnitsFactor = 100;

/// Returns the predicted seconds of a sample's forward or backward. `cost` must be made for
/// `DeviceLoad::kIsolated`.
inline double predicted_s(const cost::ComputeCost& cost, const OperatorSample& sample,
                          cost::Pass pass) {
  return cost.pass_seconds(sample.what, pass, sample.op);
}

}  // namespace stepwright::fit
