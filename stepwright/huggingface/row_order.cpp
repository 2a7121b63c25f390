#include "stepwright/huggingface/row_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>

#include "stepwright/core/error.h"

namespace stepwright::huggingface {
namespace {

/// A run of consecutive rows of a Stepwright parameter.
struct Rows {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// Heads of rows, and which rows of each head a rotary position rotates.
struct Turned {
  std::int64_t head = 0;   ///< Rows of a head; 0: no row is rotated.
  std::int64_t first = 0;  ///< First rotated row of each head.
  std::int64_t pairs = 0;  ///< Rotated pairs of rows in a head.
};

bool is_of_indexer(std::string_view own) {
  return own == "attention.index_q" || own == "attention.index_k" ||
         own.starts_with("attention.index_norm");
}

/// Returns the rows that a rotary position rotates in part `part` of a parameter.
Turned turned_rows(const model::ModelArchitecture& model, std::string_view own, std::size_t part) {
  if (model.position != model::PositionEncoding::kRope) return {};
  const bool of_latent = model.latent.has_value();
  const std::int64_t pairs = model.rotated_pairs_per_head();
  const auto is_one_of = [own](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, own) != names.end();
  };
  if (of_latent) {
    const model::LatentAttention& latent = *model.latent;
    if (is_one_of({"attention.q", "attention.q_up"})) {
      return {model.head_dim, latent.nope_head_dim, pairs};
    }
    if (own == "attention.kv_down") {
      return {latent.kv_rank + latent.rope_head_dim, latent.kv_rank, pairs};
    }
    if (is_of_indexer(own)) return {latent.index_head_dim, 0, pairs};
    return {};
  }
  const bool projects = is_one_of({"attention.qkv", "attention.qkv_bias"}) && part < 2;
  const bool norms = is_one_of(
      {"attention.q_norm", "attention.q_norm_bias", "attention.k_norm", "attention.k_norm_bias"});
  if (!projects && !norms) return {};
  return {model.head_dim, 0, pairs};
}

/// Collects runs of rows, each placed after the one before it.
class RunWriter {
 public:
  explicit RunWriter(RotaryOrder rotary) : rotary_(rotary) {}

  void add(const Rows& rows, const Turned& turned) {
    if (turned.head == 0 || rotary_ == RotaryOrder::kHalves) return add_plain(rows);
    for (std::int64_t head = 0; head < rows.count; head += turned.head) {
      add_turned(rows.begin + head, turned);
    }
  }

  std::vector<ParameterRowRun> take() { return std::move(runs_); }

 private:
  void add_plain(const Rows& rows) {
    if (rows.count == 0) return;
    ParameterRowRun* last = runs_.empty() ? nullptr : &runs_.back();
    if (last != nullptr && last->step == 1 && last->begin + last->count == rows.begin) {
      last->count += rows.count;
    } else {
      runs_.push_back({rows.begin, rows.count, place_});
    }
    place_ += rows.count;
  }

  void add_turned(std::int64_t head, const Turned& turned) {
    const std::int64_t first = head + turned.first;
    const std::int64_t pairs = turned.pairs;
    add_plain({head, turned.first});
    if (rotary_ == RotaryOrder::kSwapped) {
      add_plain({first + pairs, pairs});
      add_plain({first, pairs});
    } else {
      runs_.push_back({first, pairs, place_, 2});
      runs_.push_back({first + pairs, pairs, place_ + 1, 2});
      place_ += 2 * pairs;
    }
    add_plain({first + 2 * pairs, turned.head - turned.first - 2 * pairs});
  }

  RotaryOrder rotary_;
  std::vector<ParameterRowRun> runs_;
  std::int64_t place_ = 0;
};

/// Returns the parts of a parameter: its fused parts, else as many equal parts as it has names.
std::vector<Rows> parts_of(const model::ModelParameter& parameter, std::size_t names) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t rows : parameter.fused) {
    if (rows > 0) counts.push_back(rows);
  }
  if (counts.empty()) counts.assign(names, parameter.rows / static_cast<std::int64_t>(names));
  std::vector<Rows> parts;
  std::int64_t begin = 0;
  for (const std::int64_t count : counts) {
    parts.push_back({begin, count});
    begin += count;
  }
  return parts;
}

/// Returns the numbers of the parts that a tensor holds.
std::vector<std::size_t> parts_in(const HuggingFaceParameterNames& names, std::size_t tensor,
                                  std::size_t parts) {
  std::vector<std::size_t> list;
  if (!names.parts.empty()) {
    for (const char digit : names.parts.at(tensor)) {
      const auto part = static_cast<std::size_t>(digit - '0');
      if (part < parts) list.push_back(part);
    }
    return list;
  }
  if (names.theirs.size() > 1) return tensor < parts ? std::vector{tensor} : list;
  list.resize(parts);
  std::iota(list.begin(), list.end(), 0);
  return list;
}

/// Returns the number of groups in a tensor, each of which holds rows of all parts.
std::int64_t groups_of(const model::ModelArchitecture& model, ParameterStorageLayout storage,
                       std::string_view own) {
  switch (storage) {
    case ParameterStorageLayout::kByHead: return model.heads;
    case ParameterStorageLayout::kByGroup:
      return own.starts_with("mixer.") ? model.state_mixer->groups : model.kv_heads;
    case ParameterStorageLayout::kByFour: return 4;
    default: return 1;
  }
}

void check_dealt(const model::ModelArchitecture& model, std::string_view own, const Rows& part,
                 std::int64_t groups) {
  const bool of_heads = own.starts_with("attention.");
  const std::int64_t unit = of_heads ? groups * model.head_dim : groups;
  if (part.count % unit == 0) return;
  fail_unsupported(fmt::format("model {}: '{}' has {} rows, which cannot be dealt into {} groups",
                               model.name, own, part.count, groups));
}

}  // namespace

std::vector<std::vector<ParameterRowRun>> tensor_rows_of_parameter(
    const model::ModelArchitecture& model, const HuggingFaceWeightFamily& family,
    const model::ModelParameter& parameter, const HuggingFaceParameterNames& names) {
  const std::vector<Rows> parts = parts_of(parameter, names.theirs.size());
  std::vector<std::vector<ParameterRowRun>> tensors;
  for (std::size_t tensor = 0; tensor < names.theirs.size(); ++tensor) {
    const std::vector<std::size_t> held = parts_in(names, tensor, parts.size());
    if (names.storage == ParameterStorageLayout::kAlternating) {
      const auto step = static_cast<std::int64_t>(held.size());
      std::vector<ParameterRowRun>& runs = tensors.emplace_back();
      for (const std::size_t part : held) {
        runs.push_back({parts[part].begin, parts[part].count, std::ssize(runs), step});
      }
      continue;
    }
    const std::int64_t groups =
        held.size() > 1 ? groups_of(model, names.storage, parameter.name) : 1;
    RunWriter writer(is_of_indexer(parameter.name) ? family.index_rotary : family.rotary);
    for (std::int64_t group = 0; group < groups; ++group) {
      for (const std::size_t part : held) {
        if (groups > 1) check_dealt(model, parameter.name, parts[part], groups);
        const std::int64_t count = parts[part].count / groups;
        writer.add({parts[part].begin + group * count, count},
                   turned_rows(model, parameter.name, part));
      }
    }
    tensors.push_back(writer.take());
  }
  return tensors;
}

}  // namespace stepwright::huggingface
