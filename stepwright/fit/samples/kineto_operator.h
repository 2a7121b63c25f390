#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stepwright/cost/laws/operator_class.h"
#include "stepwright/logs/readers/kineto_trace.h"

namespace stepwright::fit {

/// A PyTorch operator, translated into an operator of this project.
struct MappedOperator {
  cost::OperatorClass what{};
  cost::Pass pass = cost::Pass::kForward;
  step::Operator op;
  /// Kernel of an attention; of no meaning for other operators.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
  /// Size by which rows are left out together, as in `OperatorSample`.
  std::int64_t hold_out = 0;
};

/// Why a PyTorch operator has no translation.
struct UnmappedReason {
  std::string reason;
};

/// Sizes [batch, heads, queries, keys] of the softmaxes in a trace: they tell the two products of
/// unfused attention from each other and from other batched products.
using SoftmaxSizes = std::set<std::vector<std::int64_t>>;
SoftmaxSizes softmax_sizes(const logs::KinetoTrace& trace);

/// How the kernels of an operator are counted, by its name.
enum class KinetoRole : std::uint8_t {
  kNone,
  kElementwise,  ///< Counted as an operator if no mapped operator encloses it.
  kMapped,
};
KinetoRole role_of(std::string_view name);

/// Translates an operator by its name, sizes and types (docs/formats.md, "Samples"); products are
/// given the forward pass.
std::variant<MappedOperator, UnmappedReason> map_operator(const logs::KinetoSignature& op,
                                                          const SoftmaxSizes& softmaxes);

}  // namespace stepwright::fit
