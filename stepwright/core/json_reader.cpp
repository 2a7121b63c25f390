#include "stepwright/core/json_reader.h"

#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "stepwright/core/assembler.h"
#include "stepwright/core/json_fault.h"
#include "stepwright/core/text_check.h"

namespace stepwright {
namespace {

namespace ondemand = simdjson::ondemand;

/// Converts offsets in a text to lines and columns; offsets must be asked for in ascending order.
class Places {
 public:
  explicit Places(std::string_view text) : at_(text.data()), line_start_(text.data()) {}

  TextPosition of(const char* place) {
    while (const void* found = std::memchr(at_, '\n', static_cast<std::size_t>(place - at_))) {
      at_ = line_start_ = static_cast<const char*>(found) + 1;
      ++line_;
    }
    at_ = place;
    return {line_, static_cast<std::size_t>(place - line_start_) + 1};
  }

 private:
  const char* at_;
  const char* line_start_;
  std::size_t line_ = 1;
};

/// Builds a tree from what simdjson parses. Every value is read, because simdjson checks only
/// values that are read.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const std::string& file, std::vector<RepeatedKey>* repeated)
      : places_(text), assembler_(file, repeated) {}

  template <class Value>  // a document or a value in one
  void add(Value& value) {
    const std::string_view token = value.raw_json_token();
    switch (value.type().value()) {
      case ondemand::json_type::object: return add_object(value.get_object().value(), token);
      case ondemand::json_type::array: return add_array(value.get_array().value(), token);
      case ondemand::json_type::string:
        return leaf(std::string(value.get_string().value()), true, token);
      case ondemand::json_type::number: (void)value.get_double().value(); break;
      case ondemand::json_type::boolean: (void)value.get_bool().value(); break;
      case ondemand::json_type::null: (void)bool(value.is_null()); break;
    }
    leaf(std::string(token.substr(0, token.find_last_not_of(" \t\r\n") + 1)), false, token);
  }

  DocumentTree take_document_tree() { return assembler_.finished_document_tree(); }

 private:
  void add_object(ondemand::object object, std::string_view token) {
    assembler_.begin_container(placed(DocumentTree::make_empty_mapping(), &token.front()));
    for (auto member : object) {
      const char* const quote = member.key().value().raw() - 1;
      const std::string_view key = member.unescaped_key().value();
      assembler_.add_scalar_value(placed(DocumentTree::make_scalar(std::string(key), true), quote));
      ondemand::value value = member.value().value();
      add(value);
    }
    assembler_.end_document_container();
  }

  void add_array(ondemand::array array, std::string_view token) {
    assembler_.begin_container(placed(DocumentTree::make_empty_sequence(), &token.front()));
    for (auto element : array) {
      ondemand::value value = element.value();
      add(value);
    }
    assembler_.end_document_container();
  }

  void leaf(std::string spelling, bool in_quotes, std::string_view token) {
    assembler_.add_scalar_value(
        placed(DocumentTree::make_scalar(std::move(spelling), in_quotes), &token.front()));
  }

  DocumentTree placed(DocumentTree tree, const char* place) {
    const TextPosition at = places_.of(place);
    tree.line = static_cast<std::uint32_t>(at.line);
    tree.column = static_cast<std::uint32_t>(at.column);
    return tree;
  }

  Places places_;
  DocumentTreeAssembler assembler_;
};

}  // namespace

DocumentTree read_json(std::string_view text, const std::string& file,
                       std::vector<RepeatedKey>* repeated) {
  check_file_text(text, file);
  const bool marked = text.starts_with("\xEF\xBB\xBF");
  const simdjson::padded_string padded(marked ? text.substr(3) : text);
  TreeBuilder builder(padded, file, repeated);
  try {
    ondemand::parser parser;
    ondemand::document document = parser.iterate(padded);
    builder.add(document);
    const bool ended = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    if (!ended) fail_at_json_fault(file, text, "text after the end");
  } catch (const simdjson::simdjson_error& error) {
    if (error.error() == simdjson::MEMALLOC) throw std::bad_alloc();
    fail_at_json_fault(file, text, error.what());
  }
  return builder.take_document_tree();
}

}  // namespace stepwright
