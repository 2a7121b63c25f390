#include "stepwright/runtime/states/whole_model.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/model/parameters.h"

namespace stepwright {
namespace {

struct Whole {
  std::string name;
  std::vector<std::int64_t> extents;
};

void add(std::vector<Whole>& list, const std::string& prefix,
         const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) {
    if (!p.trained) continue;
    std::vector<std::int64_t> extents{p.rows};
    if (!p.vector) extents.push_back(p.columns);
    if (p.expert) extents.insert(extents.begin(), p.copies);
    list.push_back({prefix + std::string(p.name), extents});
  }
}

std::vector<Whole> whole_parameters(const Architecture& model) {
  std::vector<Whole> list;
  add(list, "", embedding_parameters(model));
  for (std::int64_t i = 0; i < model.layers; ++i) {
    add(list, "layers." + std::to_string(i) + ".", layer_parameters(model, model.layer_class(i)));
  }
  add(list, "", head_parameters(model));
  return list;
}

/// Adds what this rank is the first to hold of a parameter to its whole.
void contribute(const StoredParameter& parameter, WholeState which, at::Tensor& whole) {
  const StateLayout& layout = *parameter.layout;
  const Spread spread = layout.sharding.optimizer;
  if (parameter.slice.duplicate || !layout.first_holder(spread)) return;
  const at::Tensor held =
      which == WholeState::kWeights ? parameter.master : parameter.optimizer_gradient();
  const at::Tensor exact = held.to(at::kCPU, at::kDouble).contiguous();
  const std::int64_t first = layout.held(spread).first * (parameter.padded / layout.blocks());
  auto* out = whole.data_ptr<double>();
  const auto* in = exact.data_ptr<double>();
  for (std::int64_t i = 0; i < exact.numel(); ++i) {
    if (first + i >= parameter.slice.local_elements()) break;
    const std::int64_t index = parameter.slice.whole_index(first + i);
    if (index >= 0) out[index] = in[i];
  }
}

void write_safetensors(const std::filesystem::path& path, const std::vector<Whole>& list,
                       const std::vector<at::Tensor>& values) {
  auto header = nlohmann::ordered_json::object();
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::int64_t bytes = values[i].numel() * 8;
    header[list[i].name] = {
        {"dtype", "F64"}, {"shape", list[i].extents}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const auto size = static_cast<std::uint64_t>(text.size());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&size), sizeof(size));
  out << text;
  for (const at::Tensor& value : values) {
    out.write(reinterpret_cast<const char*>(value.data_ptr<double>()), value.numel() * 8);
  }
  if (!out.flush()) {
    throw Error(ErrorKind::kRuntime, path.string() + ": cannot be written");
  }
}

}  // namespace

void write_whole_model(RankState& rank, const Groups::World& world, WholeState which,
                       const std::filesystem::path& path) {
  const std::vector<Whole> list = whole_parameters(rank.job.model);
  std::map<std::string, std::vector<const StoredParameter*>> held;
  for (const std::int32_t id : rank.store.order()) {
    for (const StoredParameter& parameter : rank.store.unit(id).parameters) {
      if (parameter.owner == nullptr) held[parameter.slice.name].push_back(&parameter);
    }
  }
  std::vector<at::Tensor> values;
  for (const Whole& one : list) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : one.extents) elements *= extent;
    at::Tensor whole = at::zeros({elements}, at::kDouble);
    for (const StoredParameter* parameter : held[one.name]) {
      contribute(*parameter, which, whole);
    }
    if (rank.groups.control() != nullptr) {
      std::vector<at::Tensor> buffers{whole};
      rank.groups.control()->allreduce(buffers)->wait();
    }
    values.push_back(std::move(whole));
  }
  if (world.rank == 0) write_safetensors(path, list, values);
}

}  // namespace stepwright
