#include "stepwright/plan/files/memory_conditions.h"

#include "stepwright/core/name.h"

namespace stepwright::plan {

std::vector<MemoryConditions> read_memory_conditions(Node conditions) {
  std::vector<MemoryConditions> entries;
  const auto list = conditions.find("memory");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const Node entry = list->at(i);
    entry.allow_only({"framework", "other_bytes", "fragmentation"});
    MemoryConditions read{.framework = read_name(entry.get("framework"))};
    if (const auto given = entry.find("other_bytes")) {
      read.other_bytes = given->number(0, kMostOtherBytes);
    }
    if (const auto given = entry.find("fragmentation")) {
      read.fragmentation = given->number(0, kMostFragmentation);
    }
    entries.push_back(std::move(read));
  }
  return entries;
}

std::vector<MemoryConditions> load_memory_conditions(const std::filesystem::path& path) {
  const Document document = Document::load(path);
  return read_memory_conditions(document.root());
}

Tree memory_conditions_tree(const std::vector<MemoryConditions>& entries) {
  Tree list = Tree::sequence();
  for (const MemoryConditions& entry : entries) {
    list.add(Tree::flow_mapping()
                 .set("framework", entry.framework)
                 .set("other_bytes", entry.other_bytes)
                 .set("fragmentation", entry.fragmentation));
  }
  return list;
}

const MemoryConditions* memory_conditions_of(const std::vector<MemoryConditions>& entries,
                                             const Framework& framework) {
  for (const std::string_view name : {std::string_view(framework.name), std::string_view()}) {
    for (const MemoryConditions& entry : entries) {
      if (entry.framework == name) return &entry;
    }
  }
  return nullptr;
}

}  // namespace stepwright::plan
