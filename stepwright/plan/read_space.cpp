#include <algorithm>

#include "stepwright/plan/read_choices.h"

namespace stepwright {
namespace {

/// Reads a value or a list of them into an empty list.
template <class Value, class Read>
void read_many(Node node, std::vector<Value>& list, Read read, bool is_list) {
  if (!list.empty()) node.fail("fixes or lists a dimension that is given elsewhere too");
  if (!is_list) {
    list.push_back(read(node));
    return;
  }
  if (node.size() == 0) node.fail("lists no value; leave it out to leave the dimension free");
  for (std::size_t i = 0; i < node.size(); ++i) {
    const Value value = read(node.at(i));
    if (std::ranges::find(list, value) != list.end()) node.at(i).fail("is listed twice");
    list.push_back(value);
  }
}

template <class Value, class Read>
void read_many(Node node, std::vector<Value>& list, Read read) {
  read_many(node, list, read, node.is_sequence());
}

bool read_flag(Node node) { return node.boolean(); }

template <std::vector<std::int64_t> Space::* kMember>
void degrees(Node node, Space& space, Notes& /*notes*/) {
  read_many(node, space.*kMember, read_degree);
}

template <std::vector<std::int64_t> Space::* kMember>
void groups(Node node, Space& space, Notes& /*notes*/) {
  read_many(node, space.*kMember, read_group);
}

template <std::vector<std::int64_t> Space::* kMember>
void buckets(Node node, Space& space, Notes& /*notes*/) {
  read_many(node, space.*kMember, read_bucket);
}

template <auto kMember, auto kRead>
void values(Node node, Space& space, Notes& /*notes*/) {
  read_many(node, space.*kMember, kRead);
}

void states(Node node, Space& space, Notes& notes) {
  read_many(node, space.sharding, [&](Node word) { return read_states(word, notes); });
}

void tensor_inputs(Node node, Space& space, Notes& /*notes*/) {
  read_many(node, space.tensor_input, [](Node word) { return word.choice(kTensorInputNames); });
}

void context_kinds(Node node, Space& space, Notes& /*notes*/) {
  read_many(node, space.context_kind, [](Node word) { return word.choice(kContextKindNames); });
}

/// One split is a list itself.
void splits(Node node, Space& space, Notes& /*notes*/) {
  const bool many = node.is_sequence() && node.size() > 0 &&
                    (node.at(0).is_sequence() || node.at(0).text() == "even");
  read_many(node, space.layers, read_layers, many);
}

/// A key of `search:` and how it is read.
struct Dimension {
  std::string_view key;
  void (*read)(Node node, Space& space, Notes& notes);
};
constexpr Dimension kDimensions[] = {
    {"tensor", degrees<&Space::tensor>},
    {"pipeline", degrees<&Space::pipeline>},
    {"context", degrees<&Space::context>},
    {"expert", degrees<&Space::expert>},
    {"expert_tensor", degrees<&Space::expert_tensor>},
    {"data", degrees<&Space::data>},
    {"micro_batch", degrees<&Space::micro_batch>},
    {"schedule", values<&Space::schedule, read_schedule_kind>},
    {"chunks", degrees<&Space::chunks>},
    {"sharding", states},
    {"sharding_group", groups<&Space::sharding_group>},
    {"expert_group", groups<&Space::expert_group>},
    {"recompute", values<&Space::recompute, read_recompute>},
    {"sequence_parallel", values<&Space::sequence_parallel, read_flag>},
    {"tensor_input", tensor_inputs},
    {"context_kind", context_kinds},
    {"accumulate", values<&Space::accumulate, read_accumulate>},
    {"gradient_bucket", buckets<&Space::gradient_bucket>},
    {"parameter_bucket", buckets<&Space::parameter_bucket>},
    {"overlap", values<&Space::overlap, read_overlap>},
    {"collectives", values<&Space::data_algorithm, read_collectives>},
    {"rank_order", values<&Space::rank_order, read_rank_order>},
    {"layers", splits}};

/// Reads the dimensions of one job, which may stand in several places.
class SpaceReader {
 public:
  explicit SpaceReader(Notes& notes) : notes_(notes) {}

  void read_search(Node search) {
    std::vector<std::string_view> keys = {"offload"};
    for (const Dimension& dimension : kDimensions) keys.push_back(dimension.key);
    search.allow_only(keys);
    for (const auto& [key, node] : search.members()) read(key, node);
  }

  /// A key that a plan has too.
  void read_fixed(const std::string& key, Node node) {
    if (key == "parallel") {
      node.allow_only(kDegreeKeys);
      for (const auto& [degree, value] : node.members()) read(degree, value);
    } else if (key == "schedule" && node.is_mapping()) {
      read_parts(node, {{"kind", "schedule"}, {"chunks", "chunks"}, {"strands", "strands"}});
    } else if (key == "sharding" && node.is_mapping()) {
      read_parts(
          node,
          {{"states", "sharding"}, {"group", "sharding_group"}, {"expert_group", "expert_group"}});
    } else if (key == "buckets") {
      read_parts(node, {{"gradients", "gradient_bucket"}, {"parameters", "parameter_bucket"}});
    } else {
      read(key, node);
    }
  }

  [[nodiscard]] Space take() { return std::move(space_); }

 private:
  /// A part of a mapping and the dimension that it is.
  using Part = std::pair<std::string_view, std::string_view>;

  void read_parts(Node node, std::initializer_list<Part> parts) {
    std::vector<std::string_view> keys;
    for (const Part& part : parts) keys.push_back(part.first);
    node.allow_only(keys);
    for (const auto& [key, dimension] : parts) {
      if (const auto value = node.find(key)) read(dimension, *value);
    }
  }

  void read(std::string_view key, Node node) {
    if (key == "offload") return read_offload(node);
    if (key == "strands") return read_strands(node);
    std::ranges::find(kDimensions, key, &Dimension::key)->read(node, space_, notes_);
  }

  Space space_;
  Notes& notes_;
};

}  // namespace

Space read_space(Node job, Notes& notes) {
  SpaceReader reader(notes);
  if (const auto search = job.find("search")) reader.read_search(*search);
  for (const auto& [key, node] : job.members()) {
    if (std::ranges::find(kPlanKeys, key) != std::ranges::end(kPlanKeys)) {
      reader.read_fixed(key, node);
    }
  }
  return reader.take();
}

}  // namespace stepwright
