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
void assemble(const Tree& tree, DocumentTreeAssembler& assembler, const std::string& name) {
  if (find_bad_utf8(tree.text) != std::string_view::npos) {
    fail_input(fmt::format("{}: text that is not UTF-8", name));
  }
  if (tree.kind == Tree::Kind::kNull || tree.kind == Tree::Kind::kScalar) {
    assembler.leaf(tree);
    return;
  }
  Tree container;
  container.kind = tree.kind;
  container.flow = tree.flow;
  assembler.open(std::move(container));
  for (const Tree& item : tree.items) assemble(item, assembler, name);
  assembler.end_container();
}

std::unique_ptr<const DocumentContent> content_of(std::string name, Tree root) {
  return std::make_unique<const DocumentContent>(DocumentContent{std::move(name), std::move(root)});
}

}  // namespace

Document::Document(std::unique_ptr<const DocumentContent> content) : content_(std::move(content)) {}
Document::Document(Document&& other) noexcept = default;
Document& Document::operator=(Document&& other) noexcept = default;
Document::~Document() = default;

Document Document::parse(std::string_view text, std::string name) {
  if (text.size() > kLargestText) fail_too_large(name);
  Tree root = looks_like_json(text) ? read_json(text, name) : read_yaml(text, name);
  return Document(content_of(std::move(name), std::move(root)));
}

Document Document::load(const std::filesystem::path& path) {
  return parse(read_file_or_standard_input(path, kLargestText), path.string());
}

Document Document::from(Tree tree, std::string name) {
  DocumentTreeAssembler assembler(name);
  assemble(tree, assembler, name);
  return Document(content_of(std::move(name), std::move(tree)));
}

Node Document::root() const& { return {content_.get(), &content_->root}; }

const std::string& Document::name() const { return content_->name; }

Document Document::with(std::string_view path, std::string_view value) const {
  Tree root = content_->root;
  replace_scalar_at_path(root, path, value, content_->name);
  return Document(content_of(content_->name, std::move(root)));
}

std::string Document::to_yaml() const { return write_yaml(content_->root); }

}  // namespace stepwright
