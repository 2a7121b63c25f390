#include "stepwright/core/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "stepwright/core/assembler.h"
#include "stepwright/core/error.h"
#include "stepwright/core/text_check.h"
#include "stepwright/core/utf8.h"
#include "stepwright/core/yaml_fault.h"

namespace stepwright {
namespace {

TextPosition place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
}

/// Returns the line at a position, without its end; empty after the last line.
std::string_view line_of(std::string_view text, TextPosition at) {
  std::size_t begin = 0;
  for (std::size_t line = 1; line < at.line && begin != std::string_view::npos; ++line) {
    begin = text.find('\n', begin);
    if (begin != std::string_view::npos) ++begin;
  }
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
}

/// Returns the end of a message: the text of the line at a position.
std::string line_shown(std::string_view text, TextPosition at) {
  const std::string_view line = line_of(text, at);
  return line.empty() ? "; the text ends here"
                      : fmt::format("; the line is '{}'", one_line_printable_text(line));
}

/// Builds a tree from the events of yaml-cpp.
class EventHandler : public YAML::EventHandler {
 public:
  EventHandler(std::string_view text, const std::string& file, std::vector<RepeatedKey>* repeated)
      : text_(text), file_(file), assembler_(file, repeated) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) fail_behind_end(place_of(mark));
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end())
      fail_at_text_position(file_, place_of(mark), "an alias inside of its anchor");
    assembler_.add_alias_copy(found->second, place_of(mark));
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    DocumentTree null = placed({}, mark);
    // yaml-cpp gives an omitted value the position of the next token.
    if (const DocumentTree* key = assembler_.yaml_key_without_value();
        key != nullptr && key->line != null.line) {
      null.line = key->line;
      null.column = key->column;
    }
    leaf(std::move(null), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool in_quotes = tag == "!";
    if (!in_quotes) check_tag(mark, tag);
    if (!in_quotes && value == "<<" && assembler_.expects_key()) {
      return assembler_.expect_merge_value();
    }
    leaf(placed(DocumentTree::make_scalar(value, in_quotes), mark), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(DocumentTree::make_empty_sequence(), mark, tag, style, anchor);
  }
  void OnSequenceEnd() override { end_document_container(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(DocumentTree::make_empty_mapping(), mark, tag, style, anchor);
  }
  void OnMapEnd() override { end_document_container(); }

  DocumentTree take_document_tree() { return assembler_.finished_document_tree(); }

 private:
  static DocumentTree placed(DocumentTree tree, const YAML::Mark& mark) {
    tree.line = static_cast<std::uint32_t>(mark.line) + 1;
    tree.column = static_cast<std::uint32_t>(mark.column) + 1;
    return tree;
  }

  [[noreturn]] void fail_behind_end(TextPosition at) const {
    const bool marked = line_of(text_, at).starts_with("---");
    fail_at_text_position(
        file_, at,
        marked ? "a second document begins (---); one is allowed"
               : "text behind the end of the document, which is one mapping, list or scalar" +
                     line_shown(text_, at));
  }

  void open(DocumentTree container, const YAML::Mark& mark, const std::string& tag,
            YAML::EmitterStyle::value style, YAML::anchor_t anchor) {
    check_tag(mark, tag);
    container.flow = style == YAML::EmitterStyle::Flow;
    assembler_.begin_container(placed(std::move(container), mark));
    open_anchors_.push_back(anchor);
  }

  void end_document_container() {
    const YAML::anchor_t anchor = open_anchors_.back();
    open_anchors_.pop_back();
    assembler_.end_document_container(anchor == YAML::NullAnchor ? nullptr : &anchored_[anchor]);
  }

  void leaf(DocumentTree value, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchored_[anchor] = value;
    assembler_.add_scalar_value(std::move(value));
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?") return;
    fail_at_text_position(file_, place_of(mark), "tags (!name) are not accepted");
  }

  std::string_view text_;
  const std::string& file_;
  DocumentTreeAssembler assembler_;
  std::map<YAML::anchor_t, DocumentTree> anchored_;
  std::vector<YAML::anchor_t> open_anchors_;  ///< Anchor of each open list or mapping.
  bool started_ = false;
};

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}

/// yaml-cpp silently replaces malformed text, and takes byte 4 for the end of the file.
void check_yaml_text(std::string_view text, const std::string& file) {
  if (text.size() > kMaxYamlTextBytes) {
    fail_input(
        fmt::format("{}: larger than {} MiB, too large for YAML", file, kMaxYamlTextBytes >> 20U));
  }
  check_file_text(text, file);
  const auto control = std::ranges::find_if(text, is_control);
  if (control == text.end()) return;
  fail_at_text_position(
      file, text_position_at_offset(text, static_cast<std::size_t>(control - text.begin())),
      fmt::format("the control character 0x{:02x} is not accepted",
                  static_cast<unsigned char>(*control)));
}

/// Returns the text followed by a comment: at the very end of a file, yaml-cpp accepts a quote that
/// is still open, and takes a word for a key.
std::string closed(std::string_view text) {
  const bool ends_a_line = text.empty() || text.back() == '\n';
  return std::string(text) + (ends_a_line ? "#" : "\n#");
}

}  // namespace

DocumentTree read_yaml(std::string_view text, const std::string& file,
                       std::vector<RepeatedKey>* repeated) {
  check_yaml_text(text, file);
  EventHandler handler(text, file, repeated);
  try {
    std::istringstream stream(closed(text));
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const YAML::Exception& error) {
    fail_at_text_position(file, place_of(error.mark),
                          fmt::format("malformed YAML: {}{}", explain_yaml_error(error.msg),
                                      line_shown(text, place_of(error.mark))));
  }
  return handler.take_document_tree();
}

}  // namespace stepwright
