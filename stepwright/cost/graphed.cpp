#include "stepwright/cost/graphed.h"

#include <initializer_list>
#include <string_view>

namespace stepwright {
namespace {

bool stands_in(const Operator& op, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (op.name.starts_with(part)) return true;
  }
  return false;
}

}  // namespace

bool in_graph(const CudaGraphs& graphs, const Operator& op) {
  if (graphs.step) return true;
  if (op.stream != Stream::kCompute) return false;
  return (graphs.attention && stands_in(op, {"attention.", "norm.attention"})) ||
         (graphs.mlp && stands_in(op, {"mlp.", "norm.mlp"})) ||
         (graphs.router && stands_in(op, {"router.", "shared.", "norm.mlp"}));
}

}  // namespace stepwright
