#include "stepwright/core/yaml_fault.h"

#include <yaml-cpp/exceptions.h>

namespace stepwright {
namespace {

struct Fault {
  std::string_view theirs;  ///< Beginning of the message of yaml-cpp.
  std::string_view ours;
};

namespace library = YAML::ErrorMsg;

constexpr std::string_view kDirective = "directives (%YAML, %TAG) are not accepted";
constexpr std::string_view kTag =
    "tags (!name) are not accepted; put text that begins with ! in quotes";
constexpr std::string_view kAlias =
    "* makes an alias: a name of letters and digits must follow it; put other text in quotes";
constexpr std::string_view kAnchor =
    "& makes an anchor: a name of letters and digits must follow it; put other text in quotes";
constexpr std::string_view kEscape =
    "text in double quotes has an unknown escape; write \\\\ for a backslash, or use single quotes";

const Fault kFaults[] = {
    {library::UNKNOWN_TOKEN,
     "a value cannot begin with this character; put the text in quotes, indent with blanks"},
    {library::END_OF_SEQ_FLOW, "a list that [ opens is not closed; , or ] is allowed here"},
    {library::END_OF_MAP_FLOW, "a mapping that { opens is not closed; , or } is allowed here"},
    {library::END_OF_SEQ,
     "this is not an element of the list; each begins with '- ' in the column of the first"},
    {library::END_OF_MAP,
     "this is not a key of the mapping; each has a colon and begins in the column of the first"},
    {library::MAP_VALUE,
     "a colon makes no key here; put text that holds ': ' in quotes, and begin the keys of a "
     "mapping in one column"},
    {library::MAP_KEY, "a key cannot stand here; it begins a line"},
    {library::BLOCK_ENTRY, "'- ' cannot stand here; an element of a list begins a line"},
    {library::FLOW_END, "] or } closes a list or mapping that nothing opened"},
    {library::EOF_IN_SCALAR, "a quote is opened and never closed"},
    {library::DOC_IN_SCALAR, "--- or ... stands in text in quotes; is a quote never closed?"},
    {library::CHAR_IN_SCALAR, "text cannot go on here; put it in quotes"},
    {library::TAB_IN_INDENTATION, "a tab indents the line; indent with blanks"},
    {library::ALIAS_NOT_FOUND, kAlias},
    {library::CHAR_IN_ALIAS, kAlias},
    {library::UNKNOWN_ANCHOR,
     "the alias (*name) has no anchor (&name) before it; put text that begins with * in quotes"},
    {library::ALIAS_CONTENT, "an alias (*name) has no value of its own"},
    {library::ANCHOR_NOT_FOUND, kAnchor},
    {library::CHAR_IN_ANCHOR, kAnchor},
    {library::MULTIPLE_ANCHORS, "a value has two anchors (&name); one is allowed"},
    {library::MULTIPLE_ALIASES, "a value has two aliases (*name); one is allowed"},
    {library::INVALID_HEX, kEscape},
    {library::INVALID_UNICODE, kEscape},
    {library::INVALID_ESCAPE, kEscape},
    {library::ZERO_INDENT_IN_BLOCK, "text behind | or > cannot be indented by 0"},
    {library::CHAR_IN_BLOCK, "text behind | or > begins on the next line"},
    {library::MULTIPLE_TAGS, kTag},
    {library::CHAR_IN_TAG_HANDLE, kTag},
    {library::TAG_WITH_NO_SUFFIX, kTag},
    {library::END_OF_VERBATIM_TAG, kTag},
    {library::YAML_DIRECTIVE_ARGS, kDirective},
    {library::YAML_VERSION, kDirective},
    {library::YAML_MAJOR_VERSION, kDirective},
    {library::REPEATED_YAML_DIRECTIVE, kDirective},
    {library::TAG_DIRECTIVE_ARGS, kDirective},
    {library::REPEATED_TAG_DIRECTIVE, kDirective}};

}  // namespace

std::string explain_yaml_error(std::string_view message) {
  for (const Fault& fault : kFaults) {
    if (message.starts_with(fault.theirs)) return std::string(fault.ours);
  }
  return std::string(message);
}

}  // namespace stepwright
