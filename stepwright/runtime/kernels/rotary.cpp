// Rotary positions: rotates the first dimensions of each query and key head, pairing the two halves
// (as Llama and GPT-NeoX in transformers); in latent attention the last dimensions of heads, where
// all heads share the keys' part.

#include <vector>

#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/kernels/rotary_frequencies.h"

namespace stepwright::runtime {
namespace {

/// The rotation angles of a call's rows.
struct Angles {
  at::Tensor cosine;  ///< Cosines of the angles, [rows, 1, pairs].
  at::Tensor sine;
};

Angles angles_of(const KernelCall& call, double sign) {
  const auto exact = call.rank.tensor_options_of(call.rank.setting.exact);
  const std::vector<double> frequencies =
      rotary_frequencies(*call.rank.setting.model, call.layer_class(), call.rank.setting.length);
  const at::Tensor angles =
      at::outer(call.batch->positions.to(exact.dtype()), at::tensor(frequencies, exact));
  const double amplitude = rotary_embedding_amplitude(*call.rank.setting.model, call.layer_class());
  return {(at::cos(angles) * amplitude).unsqueeze(1),
          (at::sin(angles) * (sign * amplitude)).unsqueeze(1)};
}

/// Rotates the first dimensions of [rows, heads, dimensions] in place.
void apply_rotary_embedding(const at::Tensor& heads, const Angles& angles) {
  const std::int64_t half = angles.cosine.size(2);
  const at::Tensor first = heads.narrow(2, 0, half);
  const at::Tensor second = heads.narrow(2, half, half);
  const auto exact = angles.cosine.scalar_type();
  const at::Tensor x = first.to(exact);
  const at::Tensor y = second.to(exact);
  const at::Tensor turned_first = x * angles.cosine - y * angles.sine;
  second.copy_(y * angles.cosine + x * angles.sine);
  first.copy_(turned_first);
}

/// Rotates queries and keys in rows of queries, keys and values; `sign` -1: in reverse.
void turn_rows(KernelCall& call, double sign) {
  const step::StepBuildSettings& s = call.rank.setting;
  const at::Tensor& rows = call.read_operand(0);
  const std::int64_t heads = s.heads() + s.kv_heads();
  const std::int64_t dim = s.model->head_dim;
  apply_rotary_embedding(rows.narrow(1, 0, heads * dim).view({rows.size(0), heads, dim}),
                         angles_of(call, sign));
  call.write_result(0, rows);
}

/// Returns columns of rows [rows, heads * dimensions] by head: [rows, heads, count].
at::Tensor of_heads(const at::Tensor& rows, std::int64_t heads, std::int64_t first,
                    std::int64_t count) {
  return rows.view({rows.size(0), heads, rows.size(1) / heads}).narrow(2, first, count);
}

/// Combines queries, latent keys and values, and the keys' part for all heads into rows of queries,
/// keys and values side by side.
void assemble(KernelCall& call) {
  const model::LatentAttention& latent = *call.rank.setting.model->latent;
  const std::int64_t heads = call.rank.setting.heads();
  const std::int64_t nope = latent.nope_head_dim;
  const std::int64_t rope = latent.rope_head_dim;
  const at::Tensor queries = call.read_operand(0).clone();
  const at::Tensor& behind = call.read_operand(2);  // the keys' part may follow latent rows
  const at::Tensor positions = behind.narrow(1, behind.size(1) - rope, rope).clone().unsqueeze(1);
  if (has_rotary_embedding(call)) {
    const Angles angles = angles_of(call, 1);
    apply_rotary_embedding(of_heads(queries, heads, nope, rope), angles);
    apply_rotary_embedding(positions, angles);
  }
  const at::Tensor keys = at::cat({of_heads(call.read_operand(1), heads, 0, nope),
                                   positions.expand({positions.size(0), heads, rope})},
                                  2);
  const at::Tensor values = of_heads(call.read_operand(1), heads, nope, latent.value_head_dim);
  call.write_result(0, at::cat({queries, keys.flatten(1), values.flatten(1)}, 1));
}

void take_apart(KernelCall& call) {
  const step::StepBuildSettings& s = call.rank.setting;
  const model::LatentAttention& latent = *s.model->latent;
  const std::int64_t heads = s.heads();
  const std::int64_t nope = latent.nope_head_dim;
  const std::int64_t rope = latent.rope_head_dim;
  const std::int64_t width = heads * s.model->head_dim;
  const at::Tensor& rows = call.read_operand(0);
  const at::Tensor queries = rows.narrow(1, 0, width);
  const at::Tensor keys = rows.narrow(1, width, width);
  at::Tensor positions =
      keys.unflatten(1, {heads, s.model->head_dim}).narrow(2, nope, rope).sum(1, true);
  if (has_rotary_embedding(call)) {
    const Angles angles = angles_of(call, -1);
    apply_rotary_embedding(queries.unflatten(1, {heads, s.model->head_dim}).narrow(2, nope, rope),
                           angles);
    apply_rotary_embedding(positions, angles);
  }
  const at::Tensor values =
      rows.narrow(1, 2 * width, heads * latent.value_head_dim).unflatten(1, {heads, -1});
  const at::Tensor unturned = keys.unflatten(1, {heads, s.model->head_dim}).narrow(2, 0, nope);
  call.write_result(1, at::cat({unturned, values}, 2).flatten(1));
  call.write_result(2, positions.squeeze(1));
  call.write_result(0, rows);
}

}  // namespace

bool has_rotary_embedding(const KernelCall& call) {
  return call.rank.setting.model->position == model::PositionEncoding::kRope &&
         call.layer_class().rotated;
}

void apply_rotary_embedding(const KernelCall& call, const at::Tensor& heads, double sign) {
  apply_rotary_embedding(heads, angles_of(call, sign));
}

void rotary_forward(KernelCall& call) {
  call.rank.setting.model->latent ? assemble(call) : turn_rows(call, 1);
}

void rotary_backward(KernelCall& call) {
  call.rank.setting.model->latent ? take_apart(call) : turn_rows(call, -1);
}

}  // namespace stepwright::runtime
