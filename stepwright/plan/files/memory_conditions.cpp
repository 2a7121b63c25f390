#include "stepwright/plan/files/memory_conditions.h"

#include "stepwright/core/name.h"

namespace stepwright::plan {

std::vector<FrameworkExtraMemory> read_framework_extra_memory(DocumentNode conditions) {
  std::vector<FrameworkExtraMemory> entries;
  const auto list = conditions.find("memory");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const DocumentNode entry = list->at(i);
    entry.allow_only_keys({"framework", "other_bytes", "fragmentation"});
    FrameworkExtraMemory read{.framework = read_name(entry.get("framework"))};
    if (const auto given = entry.find("other_bytes")) {
      read.other_bytes = given->number(0, kMaxOtherMemoryBytes);
    }
    if (const auto given = entry.find("fragmentation")) {
      read.fragmentation = given->number(0, kMaxMemoryFragmentation);
    }
    entries.push_back(std::move(read));
  }
  return entries;
}

std::vector<FrameworkExtraMemory> load_memory_conditions(const std::filesystem::path& path) {
  const YamlJsonDocument document = YamlJsonDocument::load(path);
  return read_framework_extra_memory(document.root());
}

DocumentTree memory_conditions_tree(const std::vector<FrameworkExtraMemory>& entries) {
  DocumentTree list = DocumentTree::make_empty_sequence();
  for (const FrameworkExtraMemory& entry : entries) {
    list.add(DocumentTree::empty_flow_mapping()
                 .set("framework", entry.framework)
                 .set("other_bytes", entry.other_bytes)
                 .set("fragmentation", entry.fragmentation));
  }
  return list;
}

const FrameworkExtraMemory* find_framework_extra_memory(
    const std::vector<FrameworkExtraMemory>& entries, const TrainingFramework& framework) {
  for (const std::string_view name : {std::string_view(framework.name), std::string_view()}) {
    for (const FrameworkExtraMemory& entry : entries) {
      if (entry.framework == name) return &entry;
    }
  }
  return nullptr;
}

}  // namespace stepwright::plan
