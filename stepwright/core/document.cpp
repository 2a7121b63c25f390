#include "stepwright/core/document.h"

#include <fmt/format.h>

#include "stepwright/core/assembler.h"
#include "stepwright/core/document_content.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/json_reader.h"
#include "stepwright/core/utf8.h"
#include "stepwright/core/yaml_reader.h"
#include "stepwright/core/yaml_writer.h"

namespace stepwright {
namespace {

constexpr std::size_t kLargestText = std::size_t{64} << 20U;

bool looks_like_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

[[noreturn]] void fail_too_large(const std::string& name) {
  fail_input(fmt::format("{}: larger than {} MiB", name, kLargestText >> 20U));
}

/// Feeds a tree to an assembler as a reader would, so that the rules for documents are applied.
void assemble(const DocumentTree& tree, DocumentTreeAssembler& assembler, const std::string& name) {
  if (find_bad_utf8(tree.text) != std::string_view::npos) {
    fail_input(fmt::format("{}: text that is not UTF-8", name));
  }
  if (tree.kind == DocumentTree::TreeValueKind::kNull ||
      tree.kind == DocumentTree::TreeValueKind::kScalar) {
    assembler.add_scalar_value(tree);
    return;
  }
  DocumentTree container;
  container.kind = tree.kind;
  container.flow = tree.flow;
  assembler.begin_container(std::move(container));
  for (const DocumentTree& item : tree.items) assemble(item, assembler, name);
  assembler.end_document_container();
}

std::unique_ptr<const DocumentContent> content_of(std::string name, DocumentTree root) {
  return std::make_unique<const DocumentContent>(DocumentContent{std::move(name), std::move(root)});
}

}  // namespace

YamlJsonDocument::YamlJsonDocument(std::unique_ptr<const DocumentContent> content)
    : content_(std::move(content)) {}
YamlJsonDocument::YamlJsonDocument(YamlJsonDocument&& other) noexcept = default;
YamlJsonDocument& YamlJsonDocument::operator=(YamlJsonDocument&& other) noexcept = default;
YamlJsonDocument::~YamlJsonDocument() = default;

YamlJsonDocument YamlJsonDocument::parse(std::string_view text, std::string name) {
  if (text.size() > kLargestText) fail_too_large(name);
  DocumentTree root = looks_like_json(text) ? read_json(text, name) : read_yaml(text, name);
  return YamlJsonDocument(content_of(std::move(name), std::move(root)));
}

YamlJsonDocument YamlJsonDocument::load(const std::filesystem::path& path) {
  return parse(read_file_or_standard_input(path, kLargestText), path.string());
}

YamlJsonDocument YamlJsonDocument::from_tree(DocumentTree tree, std::string name) {
  DocumentTreeAssembler assembler(name);
  assemble(tree, assembler, name);
  return YamlJsonDocument(content_of(std::move(name), std::move(tree)));
}

DocumentNode YamlJsonDocument::root() const& { return {content_.get(), &content_->root}; }

const std::string& YamlJsonDocument::document_name() const { return content_->name; }

YamlJsonDocument YamlJsonDocument::copy_with_replaced_scalar(std::string_view path,
                                                             std::string_view value) const {
  DocumentTree root = content_->root;
  replace_scalar_at_path(root, path, value, content_->name);
  return YamlJsonDocument(content_of(content_->name, std::move(root)));
}

std::string YamlJsonDocument::to_yaml() const { return write_yaml(content_->root); }

}  // namespace stepwright
