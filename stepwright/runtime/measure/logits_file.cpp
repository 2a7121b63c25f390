#include "stepwright/runtime/measure/logits_file.h"

#include "stepwright/checkpoint/shards.h"

namespace stepwright::runtime {
namespace {

checkpoint::FlatTensorView named(const char* name, const char* dtype, const at::Tensor& tensor) {
  return {.name = name,
          .dtype = dtype,
          .shape = tensor.sizes().vec(),
          .bytes = {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()}};
}

}  // namespace

void write_logits(const std::map<std::int32_t, at::Tensor>& logits,
                  std::span<const MicroBatch> batches, std::int64_t length,
                  const std::filesystem::path& path) {
  std::vector<at::Tensor> rows;
  std::vector<at::Tensor> tokens;
  std::vector<at::Tensor> targets;
  for (const auto& [micro_batch, values] : logits) {
    rows.push_back(values.to(at::kCPU, at::kDouble));
    tokens.push_back(batches[static_cast<std::size_t>(micro_batch)].tokens);
    targets.push_back(batches[static_cast<std::size_t>(micro_batch)].targets);
  }
  const at::Tensor all = at::cat(rows);
  const at::Tensor values = all.view({-1, length, all.size(1)});
  const at::Tensor in = at::cat(tokens).view({-1, length});
  const at::Tensor out = at::cat(targets).view({-1, length});
  checkpoint::write_safetensors_file(
      path,
      {named("logits", "F64", values), named("tokens", "I64", in), named("targets", "I64", out)});
}

}  // namespace stepwright::runtime
