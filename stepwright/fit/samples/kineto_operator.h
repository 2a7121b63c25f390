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

/// An operator of PyTorch as one of ours.
struct MappedOperator {
  cost::OperatorClass what{};
  cost::Pass pass = cost::Pass::kForward;
  step::Operator op;
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;  ///< Kernel of an attention.
  /// Mark of rows held out, as in `OperatorSample`.
  std::int64_t hold_out = 0;
};

/// Why an operator is none of ours.
struct Unmapped {
  std::string reason;
};

/// Sizes [batch, heads, queries, keys] over which the trace takes a softmax: what tells the two
/// products of unfused attention from each other and from other batched products.
using SoftmaxSizes = std::set<std::vector<std::int64_t>>;
SoftmaxSizes softmax_sizes(const logs::KinetoTrace& trace);

/// How kernels are counted for an operator of that name.
enum class KinetoRole : std::uint8_t {
  kNone,
  kElementwise,  ///< Mapped when no mapped operator encloses it.
  kMapped,
};
KinetoRole role_of(std::string_view name);

/// The operator by its name, sizes and types (docs/formats.md, "Samples"); the pass of a product is
/// the forward.
std::variant<MappedOperator, Unmapped> map_operator(const logs::KinetoSignature& op,
                                                    const SoftmaxSizes& softmaxes);

}  // namespace stepwright::fit
