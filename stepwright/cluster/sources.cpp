#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"

namespace stepwright::cluster {
namespace {

using Json = nlohmann::ordered_json;

DocumentTree parse(const EmbeddedFile& file) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(file.text, std::string(file.name) + ".yaml");
  return document.root().copy_tree();
}

const DocumentTree* child(const DocumentTree& parent, const std::string& key) {
  if (parent.kind == DocumentTree::TreeValueKind::kMapping) return parent.find(key);
  if (parent.kind != DocumentTree::TreeValueKind::kSequence) return nullptr;
  const std::size_t index = std::stoul(key);
  return index < parent.items.size() ? &parent.items[index] : nullptr;
}

/// Returns the source of the value at a path: the `source` in the innermost mapping around it that
/// covers it, either one text for all values or one for each key. nullopt: the file does not have
/// the value.
std::optional<std::string> stated_source(const DocumentTree& root,
                                         const std::vector<std::string>& path) {
  std::string found;
  const DocumentTree* at = &root;
  for (const std::string& key : path) {
    const DocumentTree* source = at->find("source");
    if (source != nullptr && source->kind == DocumentTree::TreeValueKind::kMapping)
      source = source->find(key);
    if (source != nullptr) found = source->text;
    at = child(*at, key);
    if (at == nullptr) return std::nullopt;
  }
  return found;
}

/// The two files of a profile (cluster and device), with their sources.
class Sources {
 public:
  explicit Sources(const EmbeddedFile& file) : cluster_(parse(file)) {
    const DocumentTree* device = cluster_.find("device");
    const EmbeddedFile* named = find_embedded_file(embedded_devices(), device->text);
    device_ = named == nullptr ? *device : parse(*named);
  }

  [[nodiscard]] std::string of(std::vector<std::string> path) const {
    if (path.front() == "device") {
      path.erase(path.begin());
      // The cluster's own limit replaces the device's.
      if (path.front() == "board_power" && cluster_.find("board_power") != nullptr) {
        return stated_source(cluster_, path).value_or("");
      }
      return stated_source(device_, path).value_or("");
    }
    const std::optional<std::string> stated = stated_source(cluster_, path);
    if (stated) return *stated;
    if (path.back() == "latency") return "default, unfitted";
    return path.front() == "network" ? "default: full bisection" : "";
  }

 private:
  DocumentTree cluster_;
  DocumentTree device_;
};

/// Visits all numbers below a value.
void collect(const Json& value, const Sources& sources, std::vector<std::string>& path,
             Json& found) {
  if (value.is_number()) found[fmt::format("{}", fmt::join(path, "."))] = sources.of(path);
  if (!value.is_structured()) return;
  std::size_t index = 0;
  for (const auto& [key, below] : value.items()) {
    path.push_back(value.is_array() ? std::to_string(index++) : key);
    collect(below, sources, path, found);
    path.pop_back();
  }
}

}  // namespace

Json cluster_number_sources(std::string_view name) {
  const EmbeddedFile* file = find_embedded_file(embedded_cluster_files(), name);
  if (file == nullptr) fail_input(fmt::format("unknown profile '{}'", name));
  Json mapping = inline_cluster_mapping(built_in_cluster(name, 1).value());
  mapping.erase("nodes");  // it is the user's choice and has no source
  Json found = Json::object();
  std::vector<std::string> path;
  collect(mapping, Sources(*file), path, found);
  return found;
}

}  // namespace stepwright::cluster
