#include <algorithm>

#include "stepwright/plan/files/read_choices.h"

namespace stepwright {
namespace {

/// In whose words a space is read, and for whom remarks are collected.
struct Reading {
  FileVersion version;
  Notes& notes;
};

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

/// A dimension whose values `kRead` reads one by one.
template <auto kMember, auto kRead>
void values(Node node, Space& space, Reading& /*reading*/) {
  read_many(node, space.*kMember, kRead);
}

void states(Node node, Space& space, Reading& reading) {
  read_many(node, space.sharding, [&](Node word) { return read_states(word, reading.notes); });
}

/// One split is a list itself.
void splits(Node node, Space& space, Reading& /*reading*/) {
  const bool many = node.is_sequence() && node.size() > 0 &&
                    (node.at(0).is_sequence() || node.at(0).text() == "even");
  read_many(node, space.layers, read_layers, many);
}

/// A mapping with a word or a list of words for each scheme; also a list of mappings of data alone,
/// as version 1 wrote it.
void algorithms(Node node, Space& space, Reading& reading) {
  const auto read = [&](Node word) { return as_meant(read_algorithm(word), reading.version); };
  if (node.is_sequence()) {
    const auto data = [&](Node choice) {
      choice.allow_only({"data"});
      return read(choice.get("data"));
    };
    return read_many(node, space.collectives.data, data);
  }
  node.allow_only(kCollectiveKeys);
  for (std::size_t i = 0; i < std::size(kChoosingSchemes); ++i) {
    const auto words = node.find(kChoosingSchemes[i].name);
    if (words) read_many(*words, space.collectives.*kAlgorithmLists[i], read);
  }
  read_pipeline_algorithm(node, reading.version);
}

/// A key of `search:` and how it is read.
struct Dimension {
  std::string_view key;
  void (*read)(Node node, Space& space, Reading& reading);
};
constexpr Dimension kDimensions[] = {
    {"tensor", values<&Space::tensor, read_degree>},
    {"pipeline", values<&Space::pipeline, read_degree>},
    {"context", values<&Space::context, read_degree>},
    {"expert", values<&Space::expert, read_degree>},
    {"expert_tensor", values<&Space::expert_tensor, read_degree>},
    {"data", values<&Space::data, read_degree>},
    {"micro_batch", values<&Space::micro_batch, read_degree>},
    {"schedule", values<&Space::schedule, read_schedule_kind>},
    {"chunks", values<&Space::chunks, read_degree>},
    {"strands", values<&Space::strands, read_strands>},
    {"sharding", states},
    {"sharding_group", values<&Space::sharding_group, read_group>},
    {"expert_group", values<&Space::expert_group, read_group>},
    {"recompute", values<&Space::recompute, read_recompute>},
    {"sequence_parallel", values<&Space::sequence_parallel, read_flag>},
    {"tensor_input", values<&Space::tensor_input, read_tensor_input>},
    {"context_kind", values<&Space::context_kind, read_context_kind>},
    {"accumulate", values<&Space::accumulate, read_accumulate>},
    {"gradient_bucket", values<&Space::gradient_bucket, read_bucket>},
    {"parameter_bucket", values<&Space::parameter_bucket, read_bucket>},
    {"overlap", values<&Space::overlap, read_overlap_alone>},
    {"collectives", algorithms},
    {"rank_order", values<&Space::rank_order, read_rank_order>},
    {"layers", splits}};

/// Reads the dimensions of one job, which may stand in several places.
class SpaceReader {
 public:
  explicit SpaceReader(Reading reading) : reading_(reading) {}

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
    std::ranges::find(kDimensions, key, &Dimension::key)->read(node, space_, reading_);
  }

  Space space_;
  Reading reading_;
};

}  // namespace

Space read_space(Node job, FileVersion version, Notes& notes) {
  SpaceReader reader({version, notes});
  if (const auto search = job.find("search")) reader.read_search(*search);
  for (const auto& [key, node] : job.members()) {
    if (std::ranges::find(kPlanKeys, key) != std::ranges::end(kPlanKeys)) {
      reader.read_fixed(key, node);
    }
  }
  return reader.take();
}

}  // namespace stepwright
