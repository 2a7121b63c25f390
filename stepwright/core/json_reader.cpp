#include "stepwright/core/json_reader.h"

#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "stepwright/core/assembler.h"
#include "stepwright/core/text_check.h"

namespace stepwright {
namespace {

namespace ondemand = simdjson::ondemand;

/// Lines and columns of places in a text, which are asked for from front to back.
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

/// Turns what simdjson finds into a tree. Every value is read, because simdjson only checks those.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const std::string& file) : places_(text), assembler_(file) {}

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

  Tree take() { return assembler_.take(); }

 private:
  void add_object(ondemand::object object, std::string_view token) {
    assembler_.open(placed(Tree::mapping(), &token.front()));
    for (auto member : object) {
      const char* const quote = member.key().value().raw() - 1;
      const std::string_view key = member.unescaped_key().value();
      assembler_.leaf(placed(Tree::scalar(std::string(key), true), quote));
      ondemand::value value = member.value().value();
      add(value);
    }
    assembler_.close();
  }

  void add_array(ondemand::array array, std::string_view token) {
    assembler_.open(placed(Tree::sequence(), &token.front()));
    for (auto element : array) {
      ondemand::value value = element.value();
      add(value);
    }
    assembler_.close();
  }

  void leaf(std::string spelling, bool in_quotes, std::string_view token) {
    assembler_.leaf(placed(Tree::scalar(std::move(spelling), in_quotes), &token.front()));
  }

  Tree placed(Tree tree, const char* place) {
    const TextPosition at = places_.of(place);
    tree.line = static_cast<std::uint32_t>(at.line);
    tree.column = static_cast<std::uint32_t>(at.column);
    return tree;
  }

  Places places_;
  Assembler assembler_;
};

/// The place at which the first list or mapping that is nested too deep begins.
std::size_t too_deep_at(std::string_view text) {
  std::size_t depth = 0;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '"') {
      while (text[++at] != '"') at += text[at] == '\\' ? 1 : 0;
    } else if (text[at] == '[' || text[at] == '{') {
      if (++depth > kDeepestNesting) break;
    } else if (text[at] == ']' || text[at] == '}') {
      --depth;
    }
  }
  return at;
}

/// Says in words where and why nlohmann's parser refuses a text; simdjson says neither well.
class Refusal : public nlohmann::json_sax<nlohmann::json> {
 public:
  Refusal(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(std::int64_t /*value*/) override { return true; }
  bool number_unsigned(std::uint64_t /*value*/) override { return true; }
  bool number_float(double /*value*/, const std::string& /*spelling*/) override { return true; }
  bool string(std::string& /*value*/) override { return true; }
  bool key(std::string& /*value*/) override { return true; }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*members*/) override { return open(); }
  bool start_array(std::size_t /*elements*/) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    const std::string_view message = error.what();  // [...] parse error at ...: what is wrong
    const std::size_t id = message.find("] ");
    std::string_view reason = id == std::string_view::npos ? message : message.substr(id + 2);
    if (reason.starts_with("parse error at")) reason.remove_prefix(reason.find(": ") + 2);
    fail_at(file_, position_of(text_, position == 0 ? 0 : position - 1),
            "malformed JSON: " + std::string(reason));
  }

 private:
  bool open() {
    if (++depth_ > kDeepestNesting) fail_too_deep(file_, position_of(text_, too_deep_at(text_)));
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t depth_ = 0;
};

[[noreturn]] void refuse(std::string_view text, const std::string& file, const char* reason) {
  Refusal refusal(text, file);
  nlohmann::json::sax_parse(text, &refusal);
  fail_at(file, {}, std::string("malformed JSON: ") + reason);
}

}  // namespace

Tree read_json(std::string_view text, const std::string& file) {
  check_text(text, file);
  const bool marked = text.starts_with("\xEF\xBB\xBF");
  const simdjson::padded_string padded(marked ? text.substr(3) : text);
  TreeBuilder builder(padded, file);
  try {
    ondemand::parser parser;
    ondemand::document document = parser.iterate(padded);
    builder.add(document);
    const bool ended = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
    if (!ended) refuse(text, file, "text after the end");
  } catch (const simdjson::simdjson_error& error) {
    if (error.error() == simdjson::MEMALLOC) throw std::bad_alloc();
    refuse(text, file, error.what());
  }
  return builder.take();
}

}  // namespace stepwright
