// Rotary positions: the first dimensions of each query and key head, halves turned against each
// other (as Llama and GPT-NeoX in transformers).
#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/kernels/rotary_frequencies.h"

namespace stepwright {
namespace {

/// Turns rows in place; `sign` -1 turns back.
void turn(Call& call, double sign) {
  const Setting& s = call.rank.setting;
  const at::Tensor& rows = call.read(0);
  const std::int64_t heads = s.heads() + s.kv_heads();
  const std::int64_t dim = s.model->head_dim;
  const std::vector<double> frequencies = rotary_frequencies(*s.model);
  const auto half = static_cast<std::int64_t>(frequencies.size());
  const auto exact = call.rank.options_of(s.exact);
  const at::Tensor angles =
      at::outer(call.batch->positions.to(exact.dtype()), at::tensor(frequencies, exact));
  const at::Tensor cosine = at::cos(angles).unsqueeze(1);
  const at::Tensor sine = (at::sin(angles) * sign).unsqueeze(1);
  const at::Tensor turned = rows.narrow(1, 0, heads * dim).view({rows.size(0), heads, dim});
  const at::Tensor first = turned.narrow(2, 0, half);
  const at::Tensor second = turned.narrow(2, half, half);
  const at::Tensor x = first.to(exact.dtype());
  const at::Tensor y = second.to(exact.dtype());
  const at::Tensor turned_first = x * cosine - y * sine;
  second.copy_(y * cosine + x * sine);
  first.copy_(turned_first);
  call.write(0, rows);
}

}  // namespace

void rotary_forward(Call& call) { turn(call, 1); }

void rotary_backward(Call& call) { turn(call, -1); }

}  // namespace stepwright
