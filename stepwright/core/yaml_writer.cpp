#include "stepwright/core/yaml_writer.h"

#include <cstddef>

#include "stepwright/core/quoting.h"
#include "stepwright/core/scalar.h"

namespace stepwright {
namespace {

constexpr int kDeepestBlock = 10;

void append_scalar(std::string& out, const DocumentTree& scalar) {
  if (!scalar.quoted && is_non_text_scalar(scalar.text)) {
    out += scalar.text;
  } else {
    out += quoted_for_yaml(scalar.text);
  }
}

void append_flow(std::string& out, const DocumentTree& tree) {
  switch (tree.kind) {
    case DocumentTree::TreeValueKind::kNull: out += "null"; return;
    case DocumentTree::TreeValueKind::kScalar: append_scalar(out, tree); return;
    case DocumentTree::TreeValueKind::kSequence: out += '['; break;
    case DocumentTree::TreeValueKind::kMapping: out += '{'; break;
  }
  const bool mapping = tree.kind == DocumentTree::TreeValueKind::kMapping;
  for (std::size_t i = 0; i < tree.items.size(); ++i) {
    if (i > 0) out += mapping && i % 2 == 1 ? ": " : ", ";
    if (mapping && i % 2 == 0) {
      out += quoted_for_yaml(tree.items[i].text);
    } else {
      append_flow(out, tree.items[i]);
    }
  }
  out += mapping ? '}' : ']';
}

/// True if a value at this depth is written on lines of its own.
bool is_block(const DocumentTree& tree, int depth) {
  return !tree.items.empty() && depth <= kDeepestBlock && (depth == 0 || !tree.flow);
}

void indent(std::string& out, int depth) { out.append(static_cast<std::size_t>(depth) * 2, ' '); }

void append_block(std::string& out, const DocumentTree& tree, int depth);

void append_member(std::string& out, const DocumentTree& key, const DocumentTree& value,
                   int depth) {
  out += quoted_for_yaml(key.text);
  out += ':';
  if (is_block(value, depth + 1)) {
    out += '\n';
    indent(out, depth + 1);
    append_block(out, value, depth + 1);
  } else {
    out += ' ';
    append_flow(out, value);
    out += '\n';
  }
}

void append_element(std::string& out, const DocumentTree& value, int depth) {
  out += "- ";
  if (is_block(value, depth + 1)) {
    append_block(out, value, depth + 1);
  } else {
    append_flow(out, value);
    out += '\n';
  }
}

/// Writes the lines of a container; the first is already indented.
void append_block(std::string& out, const DocumentTree& tree, int depth) {
  const bool mapping = tree.kind == DocumentTree::TreeValueKind::kMapping;
  const std::size_t step = mapping ? 2 : 1;
  for (std::size_t i = 0; i < tree.items.size(); i += step) {
    if (i > 0) indent(out, depth);
    if (mapping) {
      append_member(out, tree.items[i], tree.items[i + 1], depth);
    } else {
      append_element(out, tree.items[i], depth);
    }
  }
}

}  // namespace

std::string write_yaml(const DocumentTree& tree) {
  std::string out;
  if (is_block(tree, 0)) {
    append_block(out, tree, 0);
  } else {
    append_flow(out, tree);
    out += '\n';
  }
  return out;
}

}  // namespace stepwright
