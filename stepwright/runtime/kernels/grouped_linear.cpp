// Kernels that multiply runs of rows by the weights of the experts, stored as [experts, columns,
// inner].
#include "stepwright/runtime/kernels/expert_row_exchange.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// Calls `act` with the number of each of this rank's experts that has rows, its first row and its
/// number of rows.
template <class Act>
void each_expert(const KernelCall& call, const at::Tensor& counts, Act act) {
  std::int64_t first = 0;
  std::int64_t expert = 0;
  for (const std::int64_t rows : ExpertRowExchange(call.rank, counts).row_counts_of_own_experts()) {
    if (rows > 0) act(expert, first, rows);
    first += rows;
    ++expert;
  }
}

/// Returns the share of gradients that this rank adds: tensor ranks without sequence parallelism
/// compute the same rows, and their gradients are summed over ranks.
double share(const step::StepBuildSettings& s) {
  return s.sequence_parallel ? 1 : 1 / static_cast<double>(s.tensor);
}

/// True if this rank adds the biases: where products are summed over ranks, the first rank does.
bool adds_expert_bias(const KernelCall& call) {
  return !call.operator_parameter().row_parallel || call.rank.place.expert_tensor == 0;
}

}  // namespace

void grouped_linear_forward(KernelCall& call) {
  const at::Tensor& x = call.read_operand(0);
  const at::Tensor weight = call.operator_weight();
  const at::Tensor bias = adds_expert_bias(call) ? call.bias() : at::Tensor();
  const bool up = call.op.purpose == step::OperatorPurpose::kAdapterUp;
  at::Tensor y = at::empty({x.size(0), weight.size(1)}, x.options());
  each_expert(
      call, call.read_operand(1), [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        at::Tensor own = y.narrow(0, first, rows);
        const at::Tensor in = x.narrow(0, first, rows);
        own.copy_(up ? lora_b_product(call, in, weight[expert]) : at::mm(in, weight[expert].t()));
        if (bias.defined()) own.add_(bias[expert].view({1, -1}));
      });
  call.write_result(0, std::move(y));
}

void grouped_linear_data_gradient(KernelCall& call) {
  const at::Tensor& dy = call.read_operand(0);
  const at::Tensor weight = call.operator_weight();
  const bool up = call.op.purpose == step::OperatorPurpose::kAdapterUp;
  at::Tensor dx =
      at::empty({dy.size(0), up ? lora_a_output_columns(call) : weight.size(2)}, dy.options());
  each_expert(call, call.read_operand(1),
              [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
                const at::Tensor own = dy.narrow(0, first, rows);
                dx.narrow(0, first, rows)
                    .copy_(up ? adapter_up_data_gradient(call, own, weight[expert])
                              : at::mm(own, weight[expert]));
              });
  call.write_result(0, std::move(dx));
}

void grouped_linear_weight_gradient(KernelCall& call) {
  const at::Tensor& dy = call.read_operand(0);
  const at::Tensor& x = call.read_operand(1);
  const at::Tensor gradient = call.gradient();
  const at::Tensor of_bias = call.bias_gradient();
  const double part = share(call.rank.setting);
  each_expert(
      call, call.read_operand(2), [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
        at::Tensor own = gradient[expert];
        if (call.op.purpose == step::OperatorPurpose::kAdapterUp) {
          return add_lora_b_weight_gradient(
              call, {dy.narrow(0, first, rows), x.narrow(0, first, rows)}, own, part);
        }
        const at::Tensor sum = at::mm(dy.narrow(0, first, rows).t(), x.narrow(0, first, rows));
        own.add_(sum, part);
        if (!of_bias.defined()) return;
        at::Tensor beside = of_bias[expert];
        beside.add_(dy.narrow(0, first, rows).sum(0).view(beside.sizes()), part);
      });
}

}  // namespace stepwright::runtime
