#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/cost/compute_cost.h"

namespace stepwright::fit {

/// One measured operator, as one of ours.
struct OperatorSample {
  std::string name;  ///< Name in the table: "linear_qkv", "gemm", ...
  cost::OperatorClass what{};
  step::Operator op;
  std::optional<double> forward_s, backward_s;  ///< The backward is whole: both gradients.
  /// Bytes that another kernel reads and writes inside `forward_s`: engines of inference rotate
  /// queries and keys and fill their cache before an attention.
  double copied_bytes = 0;
  /// The size by which rows are left out together: the hidden size where the table has one, else
  /// the next best (heads, tokens).
  std::int64_t hold_out = 0;
  std::string device;  ///< Device of our catalogue; empty when the table does not say.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;  ///< Kernel of an attention.
  std::size_t line = 0;
};

/// A row that cannot be used.
struct BadRow {
  std::string file;
  std::size_t line = 0;
  std::string reason;  ///< "bad value", "duplicate", or why a fit dropped it.
  std::string detail;
};

/// The operator samples of one file.
struct OperatorTable {
  std::string file;
  std::vector<OperatorSample> samples;
  std::vector<BadRow> bad;  ///< Not a number, not positive, no shape, twice the same.
  /// Rows of an operator, type, device or unit that no class covers.
  std::vector<BadRow> passed_over;
};

/// Whether a table holds operator samples: one of the two headers of docs/formats.md, "Samples".
bool has_operator_samples(const CsvTable& table);

/// Reads them. Fails with `kInput` when the header is neither of the two.
OperatorTable read_operator_samples(const CsvTable& table);

/// The operator of a row in `op,tp,batch,seq,hidden,heads,layers` and its class; nothing when `op`
/// is unknown. Fails with `kInput` naming the field when a size that the operator needs is missing.
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

/// A time below this share of what the peaks allow is impossible; between, clocks and caches.
inline constexpr double kBelowFloor = 0.97;
/// A time this far from what a model says is in other units than microseconds.
inline constexpr double kOtherUnits = 100;

/// Predicted seconds of a sample's forward or backward. `cost` is priced for `Load::kIsolated`.
inline double predicted_s(const cost::ComputeCost& cost, const OperatorSample& sample,
                          cost::Pass pass) {
  return cost.pass_seconds(sample.what, pass, sample.op);
}

}  // namespace stepwright::fit
