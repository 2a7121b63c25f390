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

/// A PyTorch operator, translated into an operator of this project's cost model.
struct TranslatedOperator {
  cost::OperatorClass what{};
  cost::OperatorPass pass = cost::OperatorPass::kForward;
  step::Operator op;
  /// Kernel of an attention; without meaning for other operators.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
  /// Size (such as the hidden size) by whose values samples are left out together in
  /// cross-validation, as in `OperatorSample`.
  std::int64_t hold_out = 0;
};

/// Why a PyTorch operator cannot be translated, in words.
struct UntranslatedReason {
  std::string reason;
};

/// Sizes [batch, heads, queries, keys] of the softmaxes in a trace. With them, the two matrix
/// products of unfused attention are told from each other and from other batched products.
using SoftmaxSizes = std::set<std::vector<std::int64_t>>;
SoftmaxSizes softmax_sizes(const logs::KinetoTrace& trace);

/// How the kernels of a PyTorch operator are counted, judged by its name.
enum class KinetoOperatorRole : std::uint8_t {
  kNone,
  /// Counted as an operator of its own unless an operator of role kMapped encloses it.
  kElementwise,
  kMapped,
};
KinetoOperatorRole role_of(std::string_view name);

/// Translates a PyTorch operator by its name, sizes and types (docs/formats.md, "Samples"), or says
/// why not; matrix products are given the forward pass.
std::variant<TranslatedOperator, UntranslatedReason> timing_sample_of_profiled_operator(
    const logs::KinetoOperatorSignature& op, const SoftmaxSizes& softmaxes);

}  // namespace stepwright::fit
