// The attention core from queries, keys and values side by side in each row.
#include <cmath>
#include <limits>

#include "stepwright/runtime/kernels/attention_math.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {
namespace {

AttentionInputs inputs(const Call& call, const at::Tensor& qkv) {
  const Shape& s = call.op.shape;
  const std::int64_t q = s.heads * s.head_dim;
  const std::int64_t k = s.kv_heads * s.head_dim;
  const std::int64_t v = s.kv_heads * s.value_dim;
  const at::Tensor positions = call.batch->positions.view({s.batch, -1}).select(0, 0);
  AttentionInputs in{.queries = heads_of(qkv.narrow(1, 0, q), s.batch, s.heads),
                     .keys = heads_of(qkv.narrow(1, q, k), s.batch, s.kv_heads),
                     .values = heads_of(qkv.narrow(1, q + k, v), s.batch, s.kv_heads)};
  in.mask = {.queries = positions, .keys = positions};
  if (call.item.layer >= 0) {
    in.mask.window = call.rank.setting.model->layer_class(call.item.layer).window;
  }
  in.mask.whole = call.rank.setting.context == 1;
  return in;
}

}  // namespace

void attention_forward(Call& call) {
  const AttentionResult result = attend(inputs(call, call.read(0)));
  call.write(0, rows_of(result.out));
  call.write(1, rows_of(result.log_sum_exp.unsqueeze(-1))
                    .to(scalar_type(call.rank.setting.exact)));
}

void attention_backward(Call& call) {
  const at::Tensor& qkv = call.read(1);
  const Shape& s = call.op.shape;
  const AttentionResult result{.out = heads_of(call.read(2), s.batch, s.heads),
                               .log_sum_exp =
                                   heads_of(call.read(3), s.batch, s.heads).squeeze(-1)};
  const AttentionGradients g =
      attend_backward(inputs(call, qkv), result, heads_of(call.read(0), s.batch, s.heads));
  call.write(0, at::cat({rows_of(g.queries), rows_of(g.keys), rows_of(g.values)}, 1));
}

}  // namespace stepwright
